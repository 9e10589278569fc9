// SPDX-License-Identifier: Apache-2.0
// Internal to the text renderer: what --full adds to the first screen.
#pragma once

#include "report/lines.h"
#include "report/report.h"

namespace holter::report {

void append_full(Lines& out, const model::Report& report, const TextOptions& options);

}  // namespace holter::report
