// SPDX-License-Identifier: Apache-2.0
// Known error texts and tracebacks -> one finding a cause, the earliest local one first.
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

void diagnose_signatures(const Context& context, Output& out);

}  // namespace holter::diagnose
