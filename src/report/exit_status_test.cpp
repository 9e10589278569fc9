// SPDX-License-Identifier: Apache-2.0
#include "report/exit_status.h"

#include <gtest/gtest.h>

namespace holter::report {
namespace {

using model::Certainty;
using model::Severity;

model::Report healthy() {
  model::Report r;
  r.verdict.certainty = Certainty::kNoFault;
  return r;
}

model::Report with_finding(Certainty certainty, Severity severity) {
  auto r = healthy();
  r.verdict.certainty = certainty;
  model::Finding f;
  f.certainty = certainty;
  f.severity = severity;
  r.findings.push_back(f);
  return r;
}

TEST(ExitStatus, ACertainFindingCountsFromTheThresholdOn) {
  EXPECT_EQ(exit_status(with_finding(Certainty::kConfirmed, Severity::kApplication), Severity::kApplication), 1);
  EXPECT_EQ(exit_status(with_finding(Certainty::kLikely, Severity::kReplace), Severity::kGpuFatal), 1);
  EXPECT_EQ(exit_status(with_finding(Certainty::kConfirmed, Severity::kInfo), Severity::kApplication), 0);
}

TEST(ExitStatus, AnUncertainFindingOrAGapIsNeverAllClear) {
  EXPECT_EQ(exit_status(with_finding(Certainty::kInconclusive, Severity::kReplace), Severity::kApplication), 3);
  EXPECT_EQ(exit_status(healthy(), Severity::kApplication), 0);
  auto r = healthy();
  r.job.missing_ranks.insert(3);
  EXPECT_EQ(exit_status(r, Severity::kApplication), 3);
  r = healthy();
  r.evidence.files.push_back({.path = "a", .format = "", .version = "", .status = model::FileStatus::kPartial});
  EXPECT_EQ(exit_status(r, Severity::kApplication), 3);
  r = healthy();
  r.evidence.gaps.emplace_back("no stack of rank 3");
  EXPECT_EQ(exit_status(r, Severity::kApplication), 3);
}

}  // namespace
}  // namespace holter::report
