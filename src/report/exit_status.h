// SPDX-License-Identifier: Apache-2.0
// What a report means to a shell script.
#pragma once

#include "model/report.h"

namespace holter::report {

// 1: a confirmed or likely finding at or above `fail_on`. 3: none is, and a gap could hide one (the
// verdict is inconclusive, ranks or files are missing, or a gap is named). 0: otherwise.
int exit_status(const model::Report& report, model::Severity fail_on);

}  // namespace holter::report
