// SPDX-License-Identifier: Apache-2.0
// Hosts whose clock is wrong and logs in another time zone, as the alignment of the evidence shows
// them (evidence/clocks.h). Neither is why a job stops: they mislead whoever reads the times.
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

void diagnose_clocks(const Context& context, Output& out);

}  // namespace holter::diagnose
