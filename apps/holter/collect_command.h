// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.h"

namespace holter::app {

Command collect_command();

}  // namespace holter::app
