// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <set>
#include <vector>

namespace holter::base {
namespace {

TEST(ThreadExecutor, runs_every_task_once) {
  for (const int threads : {-1, 1, 2, 7}) {
    std::vector<std::atomic<int>> runs(100);
    thread_executor(threads)(runs.size(), [&](std::size_t i) { ++runs[i]; });
    for (const auto& n : runs) EXPECT_EQ(n, 1) << threads;
  }
  thread_executor(4)(0, [](std::size_t) { FAIL() << "no task was asked for"; });
}

TEST(ThreadExecutor, one_thread_keeps_the_order) {
  std::vector<std::size_t> order;
  thread_executor(1)(4, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(ThreadExecutor, the_first_exception_of_a_thread_reaches_the_caller) {
  std::atomic<int> done{0};
  const auto task = [&](std::size_t i) {
    ++done;
    if (i == 3) throw std::bad_alloc();
  };
  EXPECT_THROW(thread_executor(4)(100'000, task), std::bad_alloc);
  EXPECT_LT(done, 100'000);
}

}  // namespace
}  // namespace holter::base
