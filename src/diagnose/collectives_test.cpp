// SPDX-License-Identifier: Apache-2.0
#include "diagnose/collectives.h"

#include <gmock/gmock.h>

#include "diagnose/diagnose.h"
#include "hang/testing.h"

namespace holter::diagnose {
namespace {

using hang::testing::JobMaker;
using ::testing::HasSubstr;

model::Report report_of(JobMaker& job) { return diagnose(job.ev, formats::rules::builtin()); }

TEST(Collectives, a_late_rank_is_named) {
  JobMaker job;
  job.group("0", "[0, 1, 2, 3]");
  for (int r : {0, 1, 3}) job.dump(r).status("0", 9, 8).call("0", 9, "all_reduce");
  job.dump(2).status("0", 8, 8);
  const auto r = report_of(job);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].cause, "host_stuck");
  EXPECT_EQ(r.findings[0].ranks, model::RankSet{2});
  EXPECT_EQ(r.verdict.kind, model::VerdictKind::kHang);
  EXPECT_THAT(r.verdict.summary, HasSubstr("rank 2"));
}

TEST(Collectives, young_pending_calls_are_a_running_step) {
  JobMaker job;
  job.group("0", "[0, 1]");
  for (int r : {0, 1}) {
    job.dump(r).status("0", 9, 8).call("0", 9, "all_reduce");
    job.ev.dumps.back().file_time_ns = 1'500'000'000;
  }
  const auto r = report_of(job);
  EXPECT_EQ(r.verdict.certainty, model::Certainty::kNoFault);
  EXPECT_EQ(r.verdict.kind, model::VerdictKind::kNone);
}

TEST(Collectives, nothing_pending_is_no_hang) {
  JobMaker job;
  job.group("0", "[0, 1]");
  for (int r : {0, 1}) job.dump(r).status("0", 9, 9).call("0", 9, "all_reduce", 8, true);
  EXPECT_EQ(report_of(job).verdict.certainty, model::Certainty::kNoFault);
}

TEST(Collectives, another_size_is_named_before_the_stall_it_causes) {
  JobMaker job;
  job.group("0", "[0, 1, 2]");
  for (int r : {0, 1, 2}) job.dump(r).status("0", 9, 8).call("0", 9, "all_reduce", r == 1 ? 7 : 8);
  const auto r = report_of(job);
  EXPECT_EQ(r.findings[0].cause, "collective_shape_mismatch");
  EXPECT_EQ(r.findings[0].ranks, model::RankSet{1});
}

TEST(Collectives, a_missing_dump_alone_is_inconclusive_when_several_could_be_it) {
  JobMaker job;
  job.group("0", "[0, 1, 2, 3]");
  for (int r : {0, 1}) job.dump(r).status("0", 9, 8).call("0", 9, "all_reduce");
  const auto r = report_of(job);
  EXPECT_EQ(r.verdict.certainty, model::Certainty::kInconclusive);
  EXPECT_EQ(r.findings[0].role, model::Role::kContributing);
}

}  // namespace
}  // namespace holter::diagnose
