// SPDX-License-Identifier: Apache-2.0
#include "hang/stack_forest.h"

#include <gmock/gmock.h>

#include "hang/stack_testing.h"

namespace holter::hang {
namespace {

using testing::frames;

TEST(StackForest, merges_by_function_and_file_and_carries_rank_sets) {
  model::Evidence ev;
  StackForest forest;
  for (int r = 0; r < 8; ++r) {
    const auto stack = r == 5 ? frames(ev, "main@t.py:1;step@t.py:9;load@d.py:4")
                              : frames(ev, r % 2 ? "main@t.py:1;step@t.py:12;all_reduce@dist.py:8"
                                                 : "main@t.py:1;step@t.py:11;all_reduce@dist.py:8");
    forest.add("main thread", stack, {r});
  }
  forest.finish();
  ASSERT_EQ(forest.nodes().size(), 6u);  // all, title, main, step, all_reduce, load
  EXPECT_EQ(forest.nodes()[3].frame.line, -1);
  EXPECT_EQ(forest.nodes()[3].ranks.to_string(), "0-7");
  EXPECT_EQ(forest.nodes()[3].samples, 8u);
  const auto forks = find_forks(forest);
  ASSERT_EQ(forks.size(), 1u);
  EXPECT_EQ(forks[0].node, 3u);
  EXPECT_EQ(forks[0].leaving, model::RankSet{5});
  EXPECT_EQ(fork_of(forest, {5}), 3u);
  EXPECT_EQ(fork_of(forest, {0}), 4u) << "a rank of the majority shares all of its way";
}

TEST(StackForest, the_fork_of_a_set_is_above_its_own_forks) {
  model::Evidence ev;
  StackForest forest;
  for (int r = 0; r < 6; ++r)
    forest.add("main thread", frames(ev, "main@t.py:1;train@t.py:9;all_reduce@dist.py:8"), {r});
  forest.add("main thread", frames(ev, "main@t.py:1;train@t.py:9;save@c.py:4"), {6});
  forest.add("main thread", frames(ev, "main@t.py:1;validate@v.py:4"), {7});
  forest.finish();
  EXPECT_EQ(fork_of(forest, {6}), 3u);
  EXPECT_EQ(fork_of(forest, {6, 7}), 2u);
  EXPECT_EQ(find_forks(forest).size(), 2u);
}

TEST(StackForest, report_marks_fork_and_minority) {
  model::Evidence ev;
  StackForest forest;
  for (int r = 0; r < 3; ++r) forest.add("main thread", frames(ev, "main@t.py:1;all_reduce@dist.py:8"), {r});
  forest.add("main thread", frames(ev, "main@t.py:1;load@d.py:4"), {3});
  forest.finish();
  const auto report = to_report(ev, forest, {3});
  ASSERT_EQ(report.nodes.size(), 5u);
  EXPECT_EQ(report.nodes[0].frame, "all");
  EXPECT_TRUE(report.nodes[2].fork);
  EXPECT_TRUE(report.nodes[4].minority);
  EXPECT_EQ(report.nodes[4].frame, "load (d.py:4)");
  EXPECT_EQ(report.fork_text, "rank 3 leaves the others at main (t.py:1)");
}

TEST(StackForest, large_forests_are_cut_and_say_so) {
  model::Evidence ev;
  StackForest forest;
  for (int r = 0; r < 5000; ++r)
    forest.add("main thread", frames(ev, "main@t.py:1;f" + std::to_string(r) + "@t.py:2"), {r});
  forest.finish();
  const auto report = to_report(ev, forest, {});
  EXPECT_LE(report.nodes.size(), 4000u);
  EXPECT_THAT(report.fork_text, ::testing::HasSubstr("of 5003 nodes are shown"));
  for (const auto& n : report.nodes) {
    for (const auto c : n.children) EXPECT_LT(c, report.nodes.size());
  }
}

}  // namespace
}  // namespace holter::hang
