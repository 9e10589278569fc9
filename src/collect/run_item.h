// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "collect/manifest.h"
#include "collect/sink.h"

namespace holter::collect {

// Runs a command and says in `record` how it went (status, detail, bytes, time). Returns what it printed.
std::string run_item(const std::vector<std::string>& argv, std::chrono::milliseconds deadline, std::size_t max_bytes,
                     Record& record);

}  // namespace holter::collect
