// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.h"

namespace holter::app {

Command export_command();

}  // namespace holter::app
