// SPDX-License-Identifier: Apache-2.0
#include "hang/device_order.h"

#include <gtest/gtest.h>

#include "hang/testing.h"

namespace holter::hang {
namespace {

using model::RankSet;

// Four ranks in groups "a" and "b"; `first` of a rank is the group whose call its device runs.
class DeviceOrder : public ::testing::Test {
 protected:
  DeviceOrder() { job.group("a", "[0, 1, 2, 3]").group("b", "[0, 1, 2, 3]"); }
  void rank(int r, const std::string& runs, bool b_first = false) {
    job.dump(r).status("a", 5, 4).status("b", 7, 6);
    const auto a = [&] { call("a", 5, runs == "a"); };
    if (!b_first) a();
    call("b", 7, runs == "b");
    if (b_first) a();
  }
  std::vector<DeviceCrossing> found() { return find_device_crossings(build_calls(job.ev, join_job(job.ev))); }

  testing::JobMaker job;

 private:
  void call(const std::string& group, int seq, bool started) {
    job.call(group, seq, "all_reduce");
    if (started) job.ev.entries.back().state = model::OpState::kStarted;
  }
};

TEST_F(DeviceOrder, devices_that_run_the_other_group_first_are_a_crossing) {
  for (int r : {0, 1, 2}) rank(r, "a");
  rank(3, "b");
  const auto crossings = found();
  ASSERT_EQ(crossings.size(), 1U);
  EXPECT_EQ(crossings[0].first_side, (RankSet{0, 1, 2}));
  EXPECT_EQ(crossings[0].second_side, RankSet{3});
  EXPECT_EQ(crossings[0].minority(), RankSet{3});
}

TEST_F(DeviceOrder, devices_that_agree_are_none) {
  for (int r : {0, 1, 2, 3}) rank(r, "a");
  EXPECT_TRUE(found().empty());
}

TEST_F(DeviceOrder, hosts_that_issue_in_other_orders_are_another_fault) {
  for (int r : {0, 1, 2}) rank(r, "a");
  rank(3, "b", true);
  EXPECT_TRUE(found().empty());
}

TEST_F(DeviceOrder, a_member_that_did_not_come_explains_more) {
  for (int r : {0, 1}) rank(r, "a");
  rank(2, "b");
  job.dump(3).status("a", 4, 4).status("b", 6, 6);
  EXPECT_TRUE(found().empty());
}

}  // namespace
}  // namespace holter::hang
