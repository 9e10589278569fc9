// SPDX-License-Identifier: Apache-2.0
#include "diagnose/ranking.h"

#include <algorithm>

namespace holter::diagnose {

namespace {

double score(const model::Finding& f) {
  const double depth = f.depth == model::Depth::kReason ? 0.3 : f.depth == model::Depth::kMechanism ? 0.15 : 0.0;
  return f.confidence + depth + (f.local ? 0.1 : 0.0);
}

}  // namespace

void rank(const Context&, Output output, model::Report& report) {
  auto& all = output.findings;
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return score(a) > score(b); });
  int finding = 0, citation = 0;
  for (auto& f : all) {
    f.id = "F" + std::to_string(++finding);
    f.role = finding == 1 ? model::Role::kRoot : model::Role::kContributing;
    f.certainty = f.confidence >= 0.85 ? model::Certainty::kConfirmed
                  : f.confidence >= 0.5 ? model::Certainty::kLikely
                                        : model::Certainty::kInconclusive;
    for (auto& c : f.evidence) c.id = "E" + std::to_string(++citation);
    for (auto& c : f.against) c.id = "E" + std::to_string(++citation);
  }
  if (!all.empty()) {
    const auto& root = all.front();
    report.verdict = {root.kind, root.certainty, root.title};
    report.owner = root.owner;
    report.decision.restart = root.restart;
    report.decision.exclude_nodes = root.exclude_nodes;
  } else {
    report.verdict.summary = "The evidence shows no cause";
  }
  report.findings = std::move(all);
  report.ruled_out = std::move(output.ruled_out);
  report.evidence.gaps = std::move(output.gaps);
}

}  // namespace holter::diagnose
