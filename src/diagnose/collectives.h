// SPDX-License-Identifier: Apache-2.0
// Matching of calls and the wait-for graph, as findings. Its analysis also feeds the report.
#pragma once

#include "diagnose/diagnoser.h"
#include "hang/calls.h"
#include "hang/waits.h"

namespace holter::diagnose {

struct CallAnalysis {
  hang::CallState calls;
  hang::WaitGraph waits;
};

CallAnalysis diagnose_collectives(const Context& context, Output& out);

}  // namespace holter::diagnose
