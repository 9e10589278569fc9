// SPDX-License-Identifier: Apache-2.0
#include "diagnose/diagnose.h"

#include "diagnose/collectives.h"
#include "diagnose/diagnoser.h"
#include "diagnose/mixed_jobs.h"
#include "diagnose/outlived.h"
#include "diagnose/progress.h"
#include "diagnose/ranking.h"
#include "diagnose/ras.h"
#include "diagnose/stacks.h"
#include "diagnose/summary.h"
#include "diagnose/topology.h"

namespace holter::diagnose {

model::Report diagnose(const model::Evidence& evidence, const model::Rules& rules) {
  const hang::Job job = hang::join_job(evidence);
  const Context context{evidence, rules, job};
  Output output;
  const CallAnalysis analysis = diagnose_collectives(context, output);
  diagnose_progress(context, analysis, output);
  diagnose_ras(context, output);
  for (const auto& diagnoser : registry()) diagnoser.run(context, output);
  model::Report report;
  report.stacks = diagnose_stacks(context, output);
  report.impact.waiting = analysis.waits.waiting | output.waiting;
  set_survived_aside(context, output);
  set_outlived_aside(context, analysis.calls, output.findings);
  rank(context, std::move(output), report);
  tell_mixed_jobs(evidence, report);
  summarise(context, analysis, report);
  add_topology(context, report);
  return report;
}

}  // namespace holter::diagnose
