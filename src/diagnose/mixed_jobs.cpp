// SPDX-License-Identifier: Apache-2.0
#include "diagnose/mixed_jobs.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hang/mixed_jobs.h"

namespace holter::diagnose {

namespace {

constexpr std::size_t kNamed = 3;  // jobs

std::string list_of(const std::vector<hang::DumpJob>& jobs) {
  std::string out;
  for (std::size_t i = 0; i < jobs.size() && i < kNamed; ++i) {
    if (i > 0) out += ", ";
    if (jobs[i].world > 0) out += fmt::format("of {} ranks ", jobs[i].world);
    out += fmt::format("in {} ({} file{})", jobs[i].where, jobs[i].files.size(), jobs[i].files.size() == 1 ? "" : "s");
  }
  return jobs.size() > kNamed ? out + fmt::format(" and {} more", jobs.size() - kNamed) : out;
}

bool rests_on(const model::Finding& f, const std::set<model::FileId>& dumps) {
  return std::any_of(f.evidence.begin(), f.evidence.end(), [&](const auto& c) { return dumps.contains(c.at.file); });
}

}  // namespace

void tell_mixed_jobs(const model::Evidence& evidence, model::Report& report) {
  const auto jobs = hang::mixed_jobs(evidence);
  if (jobs.empty()) return;
  const std::string said = fmt::format("the dumps are of {} jobs, or of restarts that differ: {}; give each one alone",
                                       jobs.size(), list_of(jobs));
  report.evidence.gaps.insert(report.evidence.gaps.begin(), said);
  std::set<model::FileId> dumps;
  for (const auto& job : jobs) dumps.insert(job.files.begin(), job.files.end());
  bool root = true;
  for (auto& f : report.findings) {
    const bool doubtful = rests_on(f, dumps);
    if (doubtful) {
      f.certainty = model::Certainty::kInconclusive;
      f.confidence = std::min(f.confidence, 0.4);
    }
    if (doubtful && root) {
      f.role = model::Role::kContributing;
      report.verdict = {model::VerdictKind::kUndetermined, model::Certainty::kInconclusive,
                        fmt::format("Not decided: {}. Best lead: {}", said, f.title)};
      report.decision = {};
      report.decision.why = "separate the evidence of the jobs first";
    }
    root = false;
  }
}

}  // namespace holter::diagnose
