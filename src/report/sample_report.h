// SPDX-License-Identifier: Apache-2.0
// Reports made up for tests of the renderers (text written by us); nothing here comes from a real job.
#pragma once

#include "model/report.h"

namespace holter::report::testing {

// A hang of `ranks` ranks: one of them reads a file from a dead server, the others wait in an
// all_reduce. Every field of the report is filled. `ranks` >= 8.
model::Report hang(std::int32_t ranks, std::int32_t calls_per_rank = 12);

// The same with `poison` put into every text of the report.
model::Report poisoned(const std::string& poison);

}  // namespace holter::report::testing
