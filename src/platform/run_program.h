// SPDX-License-Identifier: Apache-2.0
// Runs a program that may hang, with a deadline and bounds on what it prints. No shell is involved.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace holter::platform {

struct RunOptions {
  std::chrono::milliseconds deadline{5000};
  std::size_t max_output = std::size_t{8} << 20;  // bytes kept of standard output; the rest is read and dropped
};

struct RunResult {
  enum class End {
    kExited,     // by itself; `code` is its exit status
    kSignalled,  // `code` is the signal
    kTimedOut,   // killed at the deadline; what it had printed is kept
    kNotFound,   // there is no such program
    kFailed,     // could not be started; `code` is errno
  };
  End end = End::kFailed;
  int code = 0;
  std::string output;      // standard output
  std::string error;       // the first 4 KiB of standard error
  bool truncated = false;  // it printed more than max_output
  bool abandoned = false;  // not even SIGKILL ended it within 0.5 s (a device or a file system that does not answer)
  std::chrono::milliseconds took{0};
  bool ok() const { return end == End::kExited && code == 0; }
};

// `argv[0]` is looked up in PATH. Standard input is empty; the program gets its own process group, which is killed
// as a whole. Thread-safe.
RunResult run_program(const std::vector<std::string>& argv, const RunOptions& options);

}  // namespace holter::platform
