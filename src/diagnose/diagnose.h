// SPDX-License-Identifier: Apache-2.0
// Evidence -> report: the one engine behind every command. Pure: no I/O, no clock, no threads.
#pragma once

#include "model/evidence.h"
#include "model/report.h"
#include "model/rules.h"

namespace holter::diagnose {

model::Report diagnose(const model::Evidence& evidence, const model::Rules& rules);

}  // namespace holter::diagnose
