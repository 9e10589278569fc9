// SPDX-License-Identifier: Apache-2.0
#include "hang/components.h"

#include <gtest/gtest.h>

namespace holter::hang {
namespace {

TEST(Components, cycles_share_a_number) {
  //  0 -> 1 -> 2 -> 1, 3 alone -> 0
  const auto c = strong_components({{1}, {2}, {1}, {0}});
  EXPECT_EQ(c[1], c[2]);
  EXPECT_NE(c[0], c[1]);
  EXPECT_NE(c[3], c[0]);
}

TEST(Components, a_long_chain_needs_no_stack) {
  std::vector<std::vector<std::uint32_t>> graph(200000);
  for (std::uint32_t v = 0; v + 1 < graph.size(); ++v) graph[v] = {v + 1};
  graph.back() = {0};
  const auto c = strong_components(graph);
  EXPECT_EQ(c.front(), c.back());
}

}  // namespace
}  // namespace holter::hang
