// SPDX-License-Identifier: Apache-2.0
// One line on standard error that says how far the reading is: only on a terminal, only after a
// second, and gone when done. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

namespace holter::app {

class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t done, std::size_t known);

 private:
  using Clock = std::chrono::steady_clock;

  const bool enabled_;
  const Clock::time_point started_;
  std::mutex mutex_;
  Clock::time_point shown_;
  bool visible_ = false;
};

}  // namespace holter::app
