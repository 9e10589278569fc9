// SPDX-License-Identifier: Apache-2.0
// A diagnoser looks at the evidence for one family of causes and adds findings. It never decides
// which finding is the root: that is the ranking's work (ranking.h).
//
// How to fill a finding: `cause` from rules/causes.csv; `confidence` 0.9 for a direct statement or a
// terminal flag, 0.7 strong, 0.5 suggestive, 0.3 weak; `depth` kSymptom (something timed out),
// kMechanism (who holds the others up) or kReason (why); `local` when the evidence itself is a
// reason on that rank or node; `first_ns`, `ranks`, `explains_causes` for the ranking; at least one
// Citation whose text is verbatim. A title names culprit and reason in one sentence. Add a diagnoser by
// writing one file and one line in registry.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "hang/job.h"
#include "model/evidence.h"
#include "model/report.h"
#include "model/rules.h"

namespace holter::diagnose {

struct Context {
  const model::Evidence& evidence;
  const model::Rules& rules;
  const hang::Job& job;  // ranks, nodes, groups as joined from all evidence

  std::string_view text(model::StrId id) const { return evidence.text(id); }
};

struct Output {
  std::vector<model::Finding> findings;
  std::vector<model::RuledOut> ruled_out;
  std::vector<std::string> gaps;
  model::RankSet waiting;  // ranks whose stacks or watchdogs show that they wait for others
};

struct Diagnoser {
  std::string_view name;
  void (*run)(const Context&, Output&);
};

// All of them, in no particular order.
const std::vector<Diagnoser>& registry();

// A citation of a place with its verbatim text and why it matters.
model::Citation cite(const Context& context, model::SourceRef at, std::string_view text, std::string_view why);
model::Citation cite(const Context& context, const model::Event& event, std::string_view why);

}  // namespace holter::diagnose
