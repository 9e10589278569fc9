// SPDX-License-Identifier: Apache-2.0
// A holter.report/1 document that somebody saved, as far as advice needs it: verdict, decision, owner, actions and
// needs of the findings.
#pragma once

#include <string>

#include "base/result.h"
#include "model/report.h"

namespace holter::report {

// At most 64 MiB of text. Unknown fields are passed over; unknown words of a known field become its "unknown" value.
base::Result<model::Report> from_json(const std::string& text);
bool is_report_json(std::string_view head);

}  // namespace holter::report
