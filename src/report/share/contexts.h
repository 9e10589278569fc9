// SPDX-License-Identifier: Apache-2.0
// Names that a text gives away by what stands before them ("SLURM_JOB_USER=", "invoked oom-killer",
// the host of a syslog line). Pure functions, thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace holter::report::share {

// Calls `learn(kind, name)` for every name; kinds: USER, NODE, JOB, MODEL, PROC, FUNC, GROUP, MODULE.
using Learn = std::function<void(std::string_view kind, std::string_view name)>;
void find_names(std::string_view text, const Learn& learn);

// A host by its shape: letters, digits, '.', '-', '_', no word of the trade, no device. A weak context
// ("node X") needs a digit in it.
bool is_plausible_host(std::string_view name, bool strong);

}  // namespace holter::report::share
