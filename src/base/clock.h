// SPDX-License-Identifier: Apache-2.0
// Time is passed in, so that reports can be reproduced and tests need not wait.
#pragma once

#include <chrono>
#include <cstdint>

namespace holter::base {

// Nanoseconds since 1970-01-01 UTC.
using UnixNs = std::int64_t;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual UnixNs now() const = 0;
};

class SystemClock final : public Clock {
 public:
  UnixNs now() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

class FixedClock final : public Clock {
 public:
  explicit FixedClock(UnixNs at) : at_(at) {}
  UnixNs now() const override { return at_; }

 private:
  UnixNs at_;
};

}  // namespace holter::base
