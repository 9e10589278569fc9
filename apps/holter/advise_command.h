// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.h"

namespace holter::app {

Command advise_command();

}  // namespace holter::app
