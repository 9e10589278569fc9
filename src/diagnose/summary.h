// SPDX-License-Identifier: Apache-2.0
// Everything of a report beside its findings: job, impact, deadline, timeline, calls, groups, gaps.
#pragma once

#include "diagnose/collectives.h"
#include "diagnose/diagnoser.h"

namespace holter::diagnose {

void summarise(const Context& context, const CallAnalysis& analysis, model::Report& report);

}  // namespace holter::diagnose
