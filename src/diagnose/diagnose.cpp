// SPDX-License-Identifier: Apache-2.0
#include "diagnose/diagnose.h"

#include "diagnose/diagnoser.h"
#include "diagnose/ranking.h"

namespace holter::diagnose {

model::Report diagnose(const model::Evidence& evidence, const model::Rules& rules) {
  const hang::Job job = hang::join_job(evidence);
  const Context context{evidence, rules, job};
  Output output;
  for (const auto& diagnoser : registry()) diagnoser.run(context, output);
  model::Report report;
  report.job.ranks_expected = job.ranks_expected;
  report.job.ranks_seen = job.seen;
  report.job.missing_ranks = job.missing();
  report.job.nodes = job.nodes;
  report.evidence.files = evidence.files;
  report.evidence.problems = evidence.problems;
  rank(context, std::move(output), report);
  return report;
}

}  // namespace holter::diagnose
