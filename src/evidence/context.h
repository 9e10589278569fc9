// SPDX-License-Identifier: Apache-2.0
// The lines around what a report cites, read again from the inputs: a reader wants to see the place,
// not one line out of it.
#pragma once

#include <string>
#include <vector>

#include "model/report.h"

namespace holter::evidence {

struct ContextLimits {
  std::uint64_t before = 3, after = 3;  // lines
  std::size_t line_bytes = 240;         // of each line
  std::uint64_t lines = 5'000'000;      // deepest line that is looked for in one file
  std::size_t citations = 200;          // the first ones of the report; the others stay as they are
};

// Fills `context` of the citations that name a line. `paths` are those that were given to read(). A
// file that cannot be read again leaves its citations as they are. Only cited inputs are opened.
void add_context(model::Report& report, const std::vector<std::string>& paths, const ContextLimits& limits = {});

}  // namespace holter::evidence
