// SPDX-License-Identifier: Apache-2.0
// What is said when the dumps are of several jobs: which files to separate, and nothing more certain
// than a lead out of dumps that were compared with those of another job.
#pragma once

#include "model/evidence.h"
#include "model/report.h"

namespace holter::diagnose {

// After the ranking; adds the first gap.
void tell_mixed_jobs(const model::Evidence& evidence, model::Report& report);

}  // namespace holter::diagnose
