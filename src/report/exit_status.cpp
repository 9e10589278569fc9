// SPDX-License-Identifier: Apache-2.0
#include "report/exit_status.h"

#include <algorithm>

namespace holter::report {

namespace {

bool is_fault(const model::Finding& f, model::Severity fail_on) {
  const bool known = f.certainty == model::Certainty::kConfirmed || f.certainty == model::Certainty::kLikely;
  return known && f.severity >= fail_on;
}

bool could_hide_one(const model::Report& report) {
  const auto& e = report.evidence;
  const auto incomplete = [](const model::SourceFile& f) {
    return f.status == model::FileStatus::kPartial || f.status == model::FileStatus::kUnread;
  };
  return report.verdict.certainty == model::Certainty::kInconclusive || !report.job.missing_ranks.empty() ||
         !e.gaps.empty() || std::any_of(e.files.begin(), e.files.end(), incomplete);
}

}  // namespace

int exit_status(const model::Report& report, model::Severity fail_on) {
  const auto& all = report.findings;
  if (std::any_of(all.begin(), all.end(), [&](const auto& f) { return is_fault(f, fail_on); })) return 1;
  return could_hide_one(report) ? 3 : 0;
}

}  // namespace holter::report
