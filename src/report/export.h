// SPDX-License-Identifier: Apache-2.0
// Evidence in the formats of other tools: a trace for ui.perfetto.dev, stacks for speedscope and for
// flame graphs. Each function writes to `sink` piece by piece, never builds the whole document, and
// writes nothing at all when the evidence holds nothing for its format. Pure: no I/O.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "model/evidence.h"
#include "model/report.h"
#include "model/rules.h"

namespace holter::report {

using Sink = std::function<void(std::string_view)>;

struct ExportInput {
  const model::Evidence& evidence;
  const model::Rules& rules;
  const model::Report& report;  // of the same evidence
  // A text as it may be shown (share.h); empty: as it stands. The report is shown as it is.
  std::function<std::string(std::string_view)> show;
};

// What went into a document.
struct Exported {
  std::size_t calls = 0;       // collectives, sends and receives
  std::size_t unfinished = 0;  // of these
  std::size_t marks = 0;       // log, watchdog and kernel lines with a time
  std::size_t stacks = 0;      // stacks with frames
  std::size_t left_out = 0;    // calls without a time or rank, marks beyond the limit
};

// Chrome Trace Event JSON: a process for each rank, a thread for each group of it.
Exported to_perfetto(const ExportInput& input, const Sink& sink);
// A sampled profile for each rank or process, and the merged forest weighted by ranks.
Exported to_speedscope(const ExportInput& input, const Sink& sink);
// "frame;frame;frame count" of the merged forest, outermost first; the count is of ranks.
Exported to_folded(const ExportInput& input, const Sink& sink);

}  // namespace holter::report
