// SPDX-License-Identifier: Apache-2.0
// What does not leave a host. Applied where the evidence is taken, before anything is written or sent.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holter::collect {

// Values of keys, flags and URLs that are secrets by name or shape become "<secret>"; everything else stays.
std::string without_secrets(std::string_view text);

// Lines NAME=VALUE of the variables that explain a job: those of NCCL, torch, CUDA, launchers and schedulers. All
// other variables are left out, also their names.
std::string allowed_environment(const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace holter::collect
