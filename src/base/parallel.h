// SPDX-License-Identifier: Apache-2.0
// Runs numbered tasks on threads. Libraries take an Executor and start nothing themselves; programs
// make one:
//
//   options.executor = base::thread_executor(4);
#pragma once

#include <cstddef>
#include <functional>

namespace holter::base {

// Calls task(0) ... task(count - 1), each once and in rising order of start, possibly at the same
// time, and returns when all have returned. Tasks do not throw.
using Executor = std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;

// One that starts up to `threads` threads for each call; 1 or less runs in the caller.
Executor thread_executor(int threads);

}  // namespace holter::base
