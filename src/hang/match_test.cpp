// SPDX-License-Identifier: Apache-2.0
#include "hang/match.h"

#include <gtest/gtest.h>

#include "hang/testing.h"

namespace holter::hang {
namespace {

using testing::JobMaker;

std::vector<Divergence> divergences(const JobMaker& job) {
  return find_divergences(job.ev, build_calls(job.ev, join_job(job.ev)), SemanticsTable(formats::rules::builtin()));
}

TEST(Match, the_odd_one_is_blamed_even_as_first_rank) {
  JobMaker job;
  job.group("0", "[0, 1, 2, 3]");
  for (int r = 0; r < 4; ++r) job.dump(r).status("0", 5, 4).call("0", 5, "all_reduce", r == 0 ? 64 : 32);
  const auto found = divergences(job);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, DivergenceKind::kOtherSize);
  EXPECT_EQ(found[0].minority, model::RankSet{0});
  EXPECT_FALSE(found[0].tie);
}

TEST(Match, a_tie_is_undecided) {
  JobMaker job;
  job.group("0", "[0, 1]");
  for (int r = 0; r < 2; ++r) job.dump(r).status("0", 5, 4).call("0", 5, r ? "broadcast" : "all_reduce");
  const auto found = divergences(job);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].tie);
  EXPECT_EQ(found[0].kind, DivergenceKind::kOtherCall);
}

TEST(Match, skipped_extra_and_swapped_calls) {
  const auto kind_of = [](std::vector<std::string> odd) {
    JobMaker job;
    job.group("0", "[0, 1, 2]");
    const std::vector<std::string> normal{"all_reduce", "broadcast", "_all_gather_base", "barrier"};
    for (int r = 0; r < 3; ++r) {
      job.dump(r).status("0", 4, 0);
      const auto& ops = r == 2 ? odd : normal;
      for (std::size_t i = 0; i < ops.size(); ++i) job.call("0", static_cast<std::int64_t>(i) + 1, ops[i]);
    }
    const auto found = divergences(job);
    return found.empty() ? Shift::kNone : found[0].shift;
  };
  EXPECT_EQ(kind_of({"broadcast", "_all_gather_base", "barrier"}), Shift::kSkipped);
  EXPECT_EQ(kind_of({"gather", "all_reduce", "broadcast", "_all_gather_base"}), Shift::kExtra);
  EXPECT_EQ(kind_of({"broadcast", "all_reduce", "_all_gather_base", "barrier"}), Shift::kSwapped);
}

TEST(Match, uneven_all_to_all_and_barriers_agree) {
  JobMaker job;
  job.group("0", "[0, 1]");
  for (int r = 0; r < 2; ++r) {
    job.dump(r).status("0", 6, 4).call("0", 5, "all_to_all", r ? 11 : 7).call("0", 6, "barrier", r + 1);
  }
  EXPECT_TRUE(divergences(job).empty());
}

}  // namespace
}  // namespace holter::hang
