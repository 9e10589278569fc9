// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace holter::base {

Executor thread_executor(int threads) {
  return [threads](std::size_t count, const std::function<void(std::size_t)>& task) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < count; i = next++) task(i);
    };
    const std::size_t helpers = std::min<std::size_t>(threads > 1 ? threads - 1 : 0, count ? count - 1 : 0);
    std::vector<std::jthread> pool;
    for (std::size_t i = 0; i < helpers; ++i) pool.emplace_back(work);
    work();
  };
}

}  // namespace holter::base
