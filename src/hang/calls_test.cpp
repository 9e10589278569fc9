// SPDX-License-Identifier: Apache-2.0
#include "hang/calls.h"

#include <gmock/gmock.h>

#include "hang/testing.h"

namespace holter::hang {
namespace {

using ::testing::ElementsAre;
using testing::JobMaker;

TEST(Calls, status_decides_what_is_pending) {
  JobMaker job;
  job.group("7", "[0, 1]");
  job.dump(0).status("7", 12, 10).call("7", 10, "all_reduce").call("7", 11, "all_reduce").call("7", 12, "all_reduce");
  const auto state = build_calls(job.ev, join_job(job.ev));
  ASSERT_EQ(state.ranks.at(0).pending.size(), 2u);
  EXPECT_EQ(state.ranks.at(0).pending[0].seq, 11);
  const auto& p = state.groups[0].progress.at(0);
  EXPECT_TRUE(p.exact);
  EXPECT_EQ(p.entered, 12);
  EXPECT_EQ(p.completed, 10);
}

TEST(Calls, one_file_time_does_not_date_the_other_dumps) {
  JobMaker job;
  job.group("7", "[0, 1]");
  for (int r : {0, 1}) job.dump(r).status("7", 10, 9).call("7", 10, "all_reduce");
  for (auto& d : job.ev.dumps) d.file_time_ns = 2'000'000'000;
  EXPECT_TRUE(build_calls(job.ev, join_job(job.ev)).all_dated);
  job.ev.dumps[1].file_time_ns = 0;
  EXPECT_FALSE(build_calls(job.ev, join_job(job.ev)).all_dated);
}

TEST(Calls, a_rank_beyond_any_real_job_does_not_set_its_size) {
  for (const char* ranks : {"[0, 2147483647]", "[0, 2000000000]"}) {
    JobMaker job;
    job.group("7", ranks);
    job.dump(0).status("7", 10, 9).call("7", 10, "all_reduce");
    EXPECT_FALSE(join_job(job.ev).ranks_expected) << ranks;
  }
}

TEST(Calls, a_number_that_cannot_be_read_leaves_the_progress_open) {
  JobMaker job;
  job.group("7", "[0, 1]");
  job.dump(0).status("7", -1, -1).call("7", -1, "all_reduce");
  EXPECT_FALSE(build_calls(job.ev, join_job(job.ev)).groups[0].progress.at(0).exact);
}

TEST(Calls, a_send_names_its_peer_in_group_order) {
  JobMaker job;
  job.group("pp", "[0, 4, 8, 12]");
  job.dump(8).status("pp", 31, 29).call("pp", 30, "send 2->3").call("pp", 31, "recv 2<-1");
  const auto state = build_calls(job.ev, join_job(job.ev));
  const auto& pending = state.ranks.at(8).pending;
  ASSERT_EQ(pending.size(), 2u);
  EXPECT_EQ(pending[0].peer, 12);
  EXPECT_TRUE(pending[0].send);
  EXPECT_EQ(pending[1].peer, 4);
  EXPECT_FALSE(state.groups[0].progress.at(8).exact) << "the status counts sends, not collectives";
}

TEST(Calls, watchdog_lines_stand_in_for_dumps) {
  JobMaker job;
  model::WatchdogRecord w;
  w.pg_desc = job.ev.intern("default_pg");
  w.pg_guid = job.ev.intern("0");
  w.op = job.ev.intern("ALLREDUCE");
  w.numel_in = 4;
  for (int r = 0; r < 3; ++r) {
    w.rank = model::GlobalRank{r};
    w.seq = w.last_enqueued = 7;
    w.last_completed = 6;
    job.ev.watchdog.push_back(w);
  }
  job.ev.files.push_back({.path = "rank3.log", .name_rank = model::GlobalRank{3}});
  auto known = join_job(job.ev);
  known.ranks_expected = 4;
  const auto state = build_calls(job.ev, known);
  ASSERT_EQ(state.groups.size(), 1u);
  EXPECT_THAT(state.groups[0].ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(state.ranks.at(1).pending[0].seq, 7);
  EXPECT_FALSE(state.ranks.contains(3));
}

TEST(Calls, counters_printed_with_a_stack_are_progress) {
  JobMaker job;
  model::StackSample s;
  s.ranks = {2, 3};
  s.note = job.ev.intern("last enqueued: tp all_to_all seq 11 ; last completed tp seq 10, dp seq 6");
  job.ev.stacks.push_back(s);
  const auto state = build_calls(job.ev, join_job(job.ev));
  ASSERT_EQ(state.groups.size(), 2u);
  EXPECT_EQ(state.groups[0].progress.at(3).entered, 11);
  EXPECT_EQ(state.groups[0].progress.at(3).completed, 10);
  EXPECT_EQ(state.groups[1].progress.at(2).entered, 6);
}

}  // namespace
}  // namespace holter::hang
