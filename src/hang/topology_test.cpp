// SPDX-License-Identifier: Apache-2.0
// Logs of tests/data/nccl_2.28.9: NCCL's own code on an emulated runtime.
#include "hang/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <fmt/format.h>

#include "formats/nccl/nccl_log.h"
#include "hang/init.h"

namespace holter::hang {
namespace {

using ::testing::Contains;
using ::testing::SizeIs;

model::Evidence read_logs(const std::string& folder, std::initializer_list<int> ranks) {
  model::Evidence ev;
  for (const int rank : ranks) {
    std::ifstream in(fmt::format("{}/tests/data/nccl_2.28.9/logs/{}/rank{}.log", HOLTER_SOURCE_DIR, folder, rank));
    EXPECT_TRUE(in) << folder << rank;
    const auto parser = formats::nccl::make_parser();
    formats::text::Line line;
    line.rank = model::GlobalRank{rank};
    for (std::string text; std::getline(in, text);) {
      line.raw = line.body = text;
      ++line.number;
      parser->on_line(line, {}, ev);
    }
  }
  return ev;
}

TEST(NcclTopology, rings_and_trees_of_8_ranks_on_4_hosts) {
  const auto ev = read_logs("r8_4host", {0, 1, 2, 3, 4, 5, 6, 7});
  const auto all = restore_topology(ev);
  ASSERT_THAT(all, SizeIs(1));
  const auto& t = all[0];
  EXPECT_EQ(t.size, 8);
  ASSERT_THAT(t.rings, SizeIs(2));
  for (const auto& ring : t.rings) {
    ASSERT_THAT(ring.next, SizeIs(8));
    for (int r = 0; r < 8; ++r) EXPECT_EQ(ring.next.at(r), (r + 1) % 8);
  }
  EXPECT_THAT(t.tree_edges, SizeIs(14)) << "two trees of 8 ranks have 7 edges each";
  EXPECT_EQ(t.via.at({7, 0}), "NET/Socket/0");
  EXPECT_EQ(t.via.at({0, 1}), "P2P/CUMEM");
  EXPECT_FALSE(find_lost_peer(ev, t));
  const auto report = to_report(t, {{0, 1}});
  EXPECT_THAT(report.ranks, SizeIs(8));
  int broken = 0;
  for (const auto& e : report.edges) broken += e.broken;
  EXPECT_GT(broken, 0);
}

TEST(NcclTopology, graph_lines_of_one_rank_restore_its_places) {
  const auto ev = read_logs("r2_1host_graph_subsys", {0});
  const auto all = restore_topology(ev);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].rings, SizeIs(24));
  EXPECT_EQ(all[0].rings[0].next.at(0), 1);
  EXPECT_EQ(all[0].rings[0].next.at(1), 0);
}

TEST(NcclTopology, a_killed_rank_is_found_by_its_neighbours) {
  const auto ev = read_logs("errors/peerkilled", {0, 1, 2, 3});
  const auto all = restore_topology(ev);
  ASSERT_THAT(all, SizeIs(1));
  const auto lost = find_lost_peer(ev, all[0]);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->rank, 2);
  EXPECT_EQ(lost->votes, 2);
  EXPECT_THAT(lost->broken, Contains(std::pair(1, 2)));
}

TEST(NcclInit, a_missing_rank_keeps_the_others_in_the_bootstrap) {
  const auto groups = join_initialisation(read_logs("errors/missingrank", {0}));
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_FALSE(groups[0].finished());
  EXPECT_EQ(groups[0].slowest, model::InitStage::kInitStart);
  EXPECT_EQ(groups[0].unseen, (model::RankSet{1}));
}

TEST(NcclInit, an_abort_after_initialisation_is_no_init_failure) {
  const auto ev = read_logs("errors/hang_abort", {0, 1, 2, 3});
  const auto groups = join_initialisation(ev);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_TRUE(groups[0].finished());
  EXPECT_EQ(groups[0].at(model::InitStage::kAborted).size(), 4u);
  for (const auto& f : ev.nccl.facts) {
    if (ev.text(f.key) == "abort_from") {
      EXPECT_EQ(ev.text(f.value), "complete");
    }
  }
}

}  // namespace
}  // namespace holter::hang
