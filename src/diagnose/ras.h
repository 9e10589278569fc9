// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

// Findings from NCCL RAS replies (text and JSON).
void diagnose_ras(const Context& context, Output& out);

}  // namespace holter::diagnose
