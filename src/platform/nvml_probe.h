// SPDX-License-Identifier: Apache-2.0
// Loads the GPU management library and counts devices, in a child process with a deadline: a broken
// driver can block such calls for ever.
#pragma once

#include <chrono>
#include <string>

namespace holter::platform {

struct NvmlAnswer {
  int devices = -1;  // -1: unknown
  std::string driver;
  std::string error;  // why there is no answer
};

NvmlAnswer ask_nvml(std::chrono::milliseconds deadline);

}  // namespace holter::platform
