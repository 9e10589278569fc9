// SPDX-License-Identifier: Apache-2.0
// Jobs on which other analysers of recorded calls accuse innocent ranks or stop (docs/confusions.md).
#include <gtest/gtest.h>

#include "hang/match.h"
#include "hang/testing.h"

namespace holter::hang {
namespace {

using testing::JobMaker;

std::vector<Divergence> divergences(const JobMaker& job) {
  return find_divergences(job.ev, build_calls(job.ev, join_job(job.ev)), SemanticsTable(formats::rules::builtin()));
}

TEST(AnalyserWeaknesses, unknown_operations_are_calls) {
  JobMaker job;
  job.group("0", "[0, 1, 2]");
  for (int r = 0; r < 3; ++r)
    job.dump(r).status("0", 5, 4).call("0", 5, r == 1 ? "_future_op_v3" : "all_to_allv_quant");
  const auto found = divergences(job);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, DivergenceKind::kOtherCall);
  EXPECT_EQ(found[0].minority, model::RankSet{1});
}

TEST(AnalyserWeaknesses, sizes_of_all_gather_base_are_compared) {
  JobMaker job;
  job.group("0", "[0, 1, 2, 3]");
  for (int r = 0; r < 4; ++r) job.dump(r).status("0", 5, 4).call("0", 5, "_all_gather_base", r == 2 ? 96 : 128);
  const auto found = divergences(job);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, DivergenceKind::kOtherSize);
  EXPECT_EQ(found[0].minority, model::RankSet{2});
}

TEST(AnalyserWeaknesses, sends_between_two_members_are_no_mismatch_of_the_rest) {
  JobMaker job;
  job.group("0", "[0, 1, 2, 3]");
  job.dump(0).call("0", 1, "send 0->1");
  job.dump(1).call("0", 1, "recv 1<-0").call("0", 2, "send 1->2");
  job.dump(2).call("0", 1, "recv 2<-1").call("0", 2, "send 2->3");
  job.dump(3).call("0", 1, "recv 3<-2");
  EXPECT_TRUE(divergences(job).empty());
}

TEST(AnalyserWeaknesses, one_call_ahead_is_no_mismatch) {
  JobMaker job;
  job.group("0", "[0, 1, 2]");
  for (int r = 0; r < 3; ++r) {
    job.dump(r).status("0", r == 0 ? 6 : 5, 4).call("0", 5, "all_reduce");
    if (r == 0) job.call("0", 6, "broadcast");
  }
  EXPECT_TRUE(divergences(job).empty());
}

TEST(AnalyserWeaknesses, a_mismatch_in_one_group_does_not_hide_that_of_another) {
  JobMaker job;
  job.group("0", "[0, 1, 2]").group("1", "[3, 4, 5]");
  for (int r = 0; r < 3; ++r) job.dump(r).status("0", 5, 4).call("0", 5, "all_reduce", r == 1 ? 7 : 8);
  for (int r = 3; r < 6; ++r) job.dump(r).status("1", 2, 1).call("1", 2, "broadcast", r == 5 ? 3 : 4);
  model::RankSet named;
  for (const auto& d : divergences(job)) named = named | d.minority;
  EXPECT_EQ(named, (model::RankSet{1} | model::RankSet{5}));
}

}  // namespace
}  // namespace holter::hang
