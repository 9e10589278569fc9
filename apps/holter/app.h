// SPDX-License-Identifier: Apache-2.0
// The program: finds the command, reads its flags, runs it.
#pragma once

#include <string>
#include <vector>

#include "base/flags.h"

namespace holter::app {

int run(const std::vector<std::string>& arguments);

// The table of all commands, for help, manual page and completion.
const base::flags::Program& program();

}  // namespace holter::app
