// SPDX-License-Identifier: Apache-2.0
#include "hang/waits.h"

#include <gtest/gtest.h>

#include "hang/testing.h"

namespace holter::hang {
namespace {

using model::RankSet;
using testing::JobMaker;

WaitGraph waits(const JobMaker& job) {
  const auto known = join_job(job.ev);
  return build_waits(job.ev, build_calls(job.ev, known), known, SemanticsTable(formats::rules::builtin()));
}

TEST(Waits, the_rank_that_did_not_come_is_the_origin) {
  JobMaker job;
  job.group("0", "[0, 1, 2, 3]");
  for (int r : {0, 1, 3}) job.dump(r).status("0", 9, 8).call("0", 9, "all_reduce");
  job.dump(2).status("0", 8, 8);
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kHost);
  EXPECT_EQ(w.origins[0].ranks, RankSet{2});
  EXPECT_EQ(w.origins[0].victims, (RankSet{0, 1, 3}));
  EXPECT_EQ(w.origins[0].behind, 1);
}

TEST(Waits, waiting_is_followed_through_groups) {
  JobMaker job;  // 0 and 1 wait in dp for 2 and 3, which wait in tp for 3
  job.group("dp", "[0, 2]").group("dp2", "[1, 3]").group("tp", "[2, 3]");
  job.dump(0).status("dp", 5, 4).call("dp", 5, "all_reduce");
  job.dump(1).status("dp2", 5, 4).call("dp2", 5, "all_reduce");
  job.dump(2).status("dp", 4, 4).status("tp", 8, 7).call("tp", 8, "all_reduce");
  job.dump(3).status("dp2", 4, 4).status("tp", 7, 7);
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].ranks, RankSet{3});
  EXPECT_EQ(w.origins[0].victims, (RankSet{0, 1, 2}));
}

TEST(Waits, launched_and_alone_unfinished_is_the_device) {
  JobMaker job;
  job.group("0", "[0, 1, 2]");
  job.dump(0).status("0", 9, 9);
  job.dump(1).status("0", 9, 9);
  job.dump(2).status("0", 9, 8).call("0", 9, "all_reduce");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kDevice);
  EXPECT_EQ(w.origins[0].ranks, RankSet{2});
}

TEST(Waits, a_broadcast_that_only_one_rank_did_not_finish_is_its_device) {
  JobMaker job;
  job.group("0", "[0, 1, 2]");
  job.dump(0).status("0", 9, 9);
  job.dump(1).status("0", 9, 9);
  job.dump(2).status("0", 9, 8).call("0", 9, "broadcast");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kDevice);
  EXPECT_EQ(w.origins[0].ranks, RankSet{2});
}

TEST(Waits, all_entered_and_none_left_is_a_stall) {
  JobMaker job;
  job.group("0", "[0, 1]");
  for (int r : {0, 1}) job.dump(r).status("0", 9, 8).call("0", 9, "all_reduce");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kStall);
}

TEST(Waits, opposite_order_in_two_groups_is_a_cycle) {
  JobMaker job;
  job.group("a", "[0, 1, 2]").group("b", "[0, 1, 2]");
  for (int r : {0, 1}) job.dump(r).status("a", 5, 4).status("b", 6, 6).call("a", 5, "all_reduce");
  job.dump(2).status("a", 4, 4).status("b", 7, 6).call("b", 7, "all_gather");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kGroupCycle);
  EXPECT_EQ(w.origins[0].ranks, RankSet{2});
}

TEST(Waits, only_ranks_inside_the_cycle_are_a_side) {
  JobMaker job;  // 3 issues b before a; 0 and 1 do a first; 4 and 5 only wait in b
  job.group("a", "[0, 1, 3]").group("b", "[0, 1, 3, 4, 5, 6]");
  for (int r : {0, 1}) job.dump(r).status("a", 5, 4).status("b", 6, 6).call("a", 5, "all_reduce");
  job.dump(3).status("a", 5, 4).status("b", 7, 6).call("b", 7, "all_reduce").call("a", 5, "all_reduce");
  for (int r : {4, 5, 6}) job.dump(r).status("b", 7, 6).call("b", 7, "all_reduce");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kGroupCycle);
  EXPECT_EQ(w.origins[0].ranks, RankSet{3});
}

TEST(Waits, a_call_that_the_others_went_on_without_blames_its_caller) {
  JobMaker job;
  job.group("0", "[0, 1, 2, 3]").group("x", "[0, 1]").group("y", "[1, 2]").group("z", "[2, 3]");
  job.dump(0).status("0", 8, 7).status("x", 3, 3).call("0", 8, "barrier");
  job.dump(1).status("0", 7, 7).status("x", 4, 3).status("y", 3, 3).call("x", 4, "all_reduce");
  job.dump(2).status("0", 7, 7).status("y", 4, 3).status("z", 3, 3).call("y", 4, "all_reduce");
  job.dump(3).status("0", 7, 7).status("z", 4, 3).call("z", 4, "all_reduce");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kLoneCall);
  EXPECT_EQ(w.origins[0].ranks, RankSet{0});
}

TEST(Waits, two_receives_lack_a_send_and_the_sister_pipeline_shows_whose) {
  JobMaker job;
  job.group("p0", "[0, 2]").group("p1", "[1, 3]");
  job.dump(0).call("p0", 5, "recv 0<-1");
  job.dump(2).call("p0", 5, "recv 1<-0");
  job.dump(1).call("p1", 5, "send 0->1", 8, true);
  job.dump(3).call("p1", 5, "recv 1<-0", 8, true);
  for (auto& d : job.ev.dumps) {
    for (auto& g : d.groups) g.desc = job.ev.intern("pipeline");
  }
  for (auto& e : job.ev.entries) e.group_desc = job.ev.intern("pipeline");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kP2pUnmatched);
  EXPECT_EQ(w.origins[0].ranks, RankSet{0});
}

TEST(Waits, sends_to_each_other_are_a_p2p_cycle) {
  JobMaker job;
  job.group("pp", "[0, 1]");
  job.dump(0).call("pp", 1, "send 0->1");
  job.dump(1).call("pp", 1, "send 1->0");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kP2pCycle);
}

TEST(Waits, a_missing_dump_is_unknown_not_guilty) {
  JobMaker job;  // rank 2 did not come; rank 3 has no dump
  job.group("0", "[0, 1, 2, 3]");
  for (int r : {0, 1}) job.dump(r).status("0", 9, 8).call("0", 9, "all_reduce");
  job.dump(2).status("0", 8, 8);
  const auto w = waits(job);
  ASSERT_GE(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kHost);
  EXPECT_EQ(w.origins[0].ranks, RankSet{2});
  EXPECT_EQ(w.silent, RankSet{3});
}

TEST(Waits, if_only_a_missing_dump_explains_it_the_answer_is_uncertain) {
  JobMaker job;
  job.group("0", "[0, 1, 2]");
  for (int r : {0, 1}) job.dump(r).status("0", 9, 8).call("0", 9, "all_reduce");
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kSilent);
  EXPECT_FALSE(w.origins[0].certain);
}

TEST(Waits, a_ring_that_lost_the_stuck_call_proves_no_stall) {
  JobMaker job;  // calls 10 of a and 20 of b pend; the rings begin with later calls
  job.group("a", "[0, 1]").group("b", "[0, 1]");
  for (int r : {0, 1}) {
    job.dump(r).status("a", 14, 9).status("b", 24, 19);
    for (int i : {13, 14}) job.call("a", i, "all_reduce").call("b", i + 10, "all_gather");
  }
  const auto w = waits(job);
  EXPECT_EQ(w.unrecorded, (RankSet{0, 1}));
  for (const auto& o : w.origins) EXPECT_FALSE(o.certain);
}

TEST(Waits, of_lost_calls_the_started_one_is_the_oldest) {
  JobMaker job;
  job.group("a", "[0, 1]").group("b", "[0, 1]");
  for (int r : {0, 1}) {
    job.dump(r).status("a", 14, 9).status("b", 24, 19).call("a", 14, "all_reduce").call("b", 24, "all_gather");
    job.ev.dumps.back().statuses[1].last_started = 20;
  }
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kStall);
  EXPECT_EQ(w.origins[0].calls[0].seq, 20);
  EXPECT_FALSE(w.origins[0].certain);  // both are in it, but perhaps with different operations
}

TEST(Waits, counters_name_the_late_rank_when_the_ring_lost_the_call) {
  JobMaker job;
  job.group("a", "[0, 1, 2]").group("b", "[0, 1]");
  for (int r : {0, 1}) {
    job.dump(r).status("a", 14, 9).status("b", 24, 19);
    for (int i : {13, 14}) job.call("a", i, "all_reduce").call("b", i + 10, "all_gather");
  }
  job.dump(2).status("a", 9, 9).call("a", 9, "all_reduce", 8, true);
  const auto w = waits(job);
  ASSERT_GE(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kHost);
  EXPECT_EQ(w.origins[0].ranks, RankSet{2});
}

TEST(Waits, a_cut_dump_does_not_make_its_rank_idle) {
  JobMaker job;  // rank 1 waits in b for 2, which did not come; its dump ends before that call
  job.group("a", "[0, 1]").group("b", "[1, 2]");
  job.dump(0).status("a", 10, 9).call("a", 10, "all_reduce");
  job.dump(1).status("a", 9, 9).status("b", 5, 4).call("a", 9, "all_reduce", 8, true);
  job.ev.dumps.back().truncated = true;
  job.dump(2).status("b", 4, 4);
  const auto w = waits(job);
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kHost);
  EXPECT_EQ(w.origins[0].ranks, RankSet{2});
}

TEST(Waits, what_a_cut_dump_shows_as_pending_is_older_than_what_it_lacks) {
  JobMaker job;
  job.group("a", "[0, 1]").group("b", "[0, 1]");
  job.dump(0).status("a", 10, 9).status("b", 5, 4).call("a", 10, "all_reduce").call("b", 5, "all_gather");
  job.dump(1).status("a", 10, 9).status("b", 5, 4).call("a", 10, "all_reduce");
  job.ev.dumps.back().truncated = true;
  const auto w = waits(job);
  EXPECT_TRUE(w.unrecorded.empty());
  ASSERT_EQ(w.origins.size(), 1u);
  EXPECT_EQ(w.origins[0].kind, OriginKind::kStall);
}

}  // namespace
}  // namespace holter::hang
