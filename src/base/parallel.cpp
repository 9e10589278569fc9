// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace holter::base {

Executor thread_executor(int threads) {
  return [threads](std::size_t count, const std::function<void(std::size_t)>& task) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr first;
    const auto work = [&] {
      try {
        for (std::size_t i = next++; i < count; i = next++) task(i);
      } catch (...) {
        next = count;  // the others end early
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
    };
    const std::size_t helpers = std::min<std::size_t>(threads > 1 ? threads - 1 : 0, count ? count - 1 : 0);
    {
      std::vector<std::jthread> pool;
      try {
        for (std::size_t i = 0; i < helpers; ++i) pool.emplace_back(work);
      } catch (const std::system_error&) {
        // No more threads are to be had: those that are there do the work.
      }
      work();
    }
    if (first) std::rethrow_exception(first);
  };
}

}  // namespace holter::base
