// SPDX-License-Identifier: Apache-2.0
// What a command of `holter` is. To add one: write x_command.{h,cpp} with its row of the flag table
// and its function, and add one line to commands() in app.cpp.
#pragma once

#include "base/flags.h"

namespace holter::app {

// Exit codes, a public interface; where several hold, 2 wins over 4, 1, 3 and 0.
enum ExitCode : int { kOk = 0, kFault = 1, kUsage = 2, kGap = 3, kUnavailable = 4 };

struct Command {
  base::flags::Command spec;
  // Data goes to standard output through output.h, everything else to base/log.h.
  int (*run)(const base::flags::Parsed& flags);
};

}  // namespace holter::app
