// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace holter::app {

int diagnose_command(const std::vector<std::string>& arguments);

}  // namespace holter::app
