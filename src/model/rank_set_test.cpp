// SPDX-License-Identifier: Apache-2.0
#include "model/rank_set.h"

#include <gmock/gmock.h>

namespace holter::model {
namespace {

TEST(RankSet, prints_folded_ranges) {
  EXPECT_EQ((RankSet{0, 1, 2, 4, 7, 8}).to_string(), "0-2,4,7,8");
  EXPECT_EQ(RankSet::range(0, 1023).size(), 1024u);
  EXPECT_EQ(RankSet().to_string(), "");
}

TEST(RankSet, parses_the_spellings_of_tools) {
  EXPECT_EQ(RankSet::parse("[0, 1, 2, 5]"), (RankSet{0, 1, 2, 5}));
  EXPECT_EQ(RankSet::parse("0-2/5-7|3-4"), RankSet::range(0, 7));
  EXPECT_EQ(RankSet::parse("[]"), RankSet());
  EXPECT_EQ(RankSet::parse("0-"), std::nullopt);
  EXPECT_EQ(RankSet::parse("5-3"), std::nullopt);
  EXPECT_EQ(RankSet::parse("0-2000000000"), std::nullopt);
}

TEST(RankSet, algebra) {
  const auto a = RankSet::range(0, 9);
  const RankSet b{3, 4, 12};
  EXPECT_EQ((a - b).to_string(), "0-2,5-9");
  EXPECT_EQ((a & b).to_string(), "3,4");
  EXPECT_EQ((a | b).to_string(), "0-9,12");
  EXPECT_EQ((b - a).to_string(), "12");
  RankSet c;
  for (int r : {5, 3, 4, 9, 3}) c.insert(r);
  EXPECT_EQ(c.to_string(), "3-5,9");
  EXPECT_TRUE(c.contains(4));
  EXPECT_FALSE(c.contains(6));
}

}  // namespace
}  // namespace holter::model
