// SPDX-License-Identifier: Apache-2.0
#include "hang/mixed_jobs.h"

#include <gtest/gtest.h>

#include "hang/testing.h"

namespace holter::hang {
namespace {

class Mixed : public ::testing::Test {
 protected:
  void dump(const std::string& path, std::int32_t rank, const std::string& world, const std::string& tensor = "",
            std::int32_t attempt = -1) {
    ev_.files.push_back({.path = path, .name_attempt = attempt});
    model::FrDump d;
    d.file = static_cast<model::FileId>(ev_.files.size() - 1);
    d.rank = model::GlobalRank{rank};
    d.groups.push_back({ev_.intern("0"), ev_.intern("default_pg"), ev_.intern_rank_list(world)});
    if (!tensor.empty()) d.groups.push_back({ev_.intern("1"), ev_.intern("tp"), ev_.intern_rank_list(tensor)});
    ev_.dumps.push_back(d);
  }
  model::Evidence ev_;
};

TEST_F(Mixed, one_job_is_none) {
  EXPECT_TRUE(mixed_jobs(ev_).empty());
  dump("n1/rank_0", 0, "[0, 1, 2, 3]", "[0, 1]");
  dump("n2/rank_2", 2, "[0, 1, 2, 3]", "[2, 3]");
  dump("again/rank_0", 0, "[0, 1, 2, 3]");  // earlier, before the second group was made
  EXPECT_TRUE(mixed_jobs(ev_).empty());
}

TEST_F(Mixed, worlds_that_differ_are_two_jobs) {
  dump("a_rank_0", 0, "[0, 1]");
  dump("b_rank_0", 0, "[0, 1, 2]");
  dump("b_rank_2", 2, "[0, 1, 2]");
  const auto jobs = mixed_jobs(ev_);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].where, "a_rank_0");
  EXPECT_EQ(jobs[0].world, 2);
  EXPECT_EQ(jobs[1].where, "b_rank_*");
  EXPECT_EQ(jobs[1].files.size(), 2U);
}

TEST_F(Mixed, groups_of_one_rank_that_contradict_are_two_jobs) {
  dump("x/rank_0", 0, "[0, 1, 2, 3]", "[0, 1]");
  dump("y/rank_0", 0, "[0, 1, 2, 3]", "[0, 2]");
  dump("y/rank_1", 1, "[0, 1, 2, 3]", "[1, 3]");
  const auto jobs = mixed_jobs(ev_);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[1].where, "y/rank_*");
  EXPECT_EQ(jobs[1].files.size(), 2U);
}

TEST_F(Mixed, attempts_that_names_tell_are_one_job) {
  dump("attempt_0/rank_0", 0, "[0, 1, 2, 3]", "[0, 1]", 0);
  dump("attempt_1/rank_0", 0, "[0, 1]", "", 1);
  EXPECT_TRUE(mixed_jobs(ev_).empty());
}

TEST_F(Mixed, jobs_are_bounded) {
  for (int n = 1; n < 60; ++n)
    dump("rank_0_" + std::string(static_cast<std::size_t>(n), 'x'), 0, "[0, " + std::to_string(n) + "]");
  EXPECT_EQ(mixed_jobs(ev_).size(), kMaxJobs);
}

}  // namespace
}  // namespace holter::hang
