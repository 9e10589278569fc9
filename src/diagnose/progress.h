// SPDX-License-Identifier: Apache-2.0
// What the logs say of where each rank got to, against who waits: ranks that left, that ran out of
// data, that still prepare, save or compile.
#pragma once

#include "diagnose/collectives.h"
#include "diagnose/diagnoser.h"

namespace holter::diagnose {

void diagnose_progress(const Context& context, const CallAnalysis& analysis, Output& out);

}  // namespace holter::diagnose
