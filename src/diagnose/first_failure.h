// SPDX-License-Identifier: Apache-2.0
// First failures that take more than one line to see: a path that only some nodes have, a port that
// another process holds, a process killed for its memory, and a slow start that is no fault.
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

void diagnose_first_failure(const Context& context, Output& out);

}  // namespace holter::diagnose
