// SPDX-License-Identifier: Apache-2.0
// Why the job should or should not be restarted now, in one sentence.
#pragma once

#include <string>

#include "model/report.h"

namespace holter::diagnose {

// `restart` is what the report decides, which is not that of the finding when nothing is decided. Empty when there
// is no fault to decide about.
std::string decision_reason(const model::Finding& root, model::Restart restart);

}  // namespace holter::diagnose
