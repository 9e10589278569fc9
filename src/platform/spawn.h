// SPDX-License-Identifier: Apache-2.0
// Child processes with pipes. No shell is involved; every child leads a process group of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/fd.h"

namespace holter::platform {

struct Child {
  pid_t pid = -1;
  base::Fd input;          // to its standard input; non-blocking, absent without input
  base::Fd output, error;  // from its standard output and error; non-blocking
};

// `argv[0]` is looked up in PATH. Without input its standard input is empty. Returns 0 or errno (ENOENT: there is no
// such program). Thread-safe.
int spawn_with_pipes(const std::vector<std::string>& argv, bool with_input, Child& child);

// Waits for the child until then; false when it is still there. `status` as of waitpid().
bool reap(pid_t pid, std::chrono::steady_clock::time_point deadline, int& status);
// Kills the whole group and waits half a second. False when not even that ended it: it sits in a device or a file
// system that does not answer, and is left behind.
bool kill_group(pid_t pid);

}  // namespace holter::platform
