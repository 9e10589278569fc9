// SPDX-License-Identifier: Apache-2.0
#include "analytics/stats.h"

#include <limits>

#include <gtest/gtest.h>

namespace holter::analytics {
namespace {

TEST(Stats, MedianAndSpread) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({1, std::numeric_limits<double>::quiet_NaN(), 3}), 2);
  const std::vector<double> v{1, 1, 1, 100};
  EXPECT_EQ(spread(v), 0);
}

TEST(Stats, LeakAndPlateau) {
  std::vector<double> x, leak, flat, plateau;
  for (int i = 0; i < 30; ++i) {
    x.push_back(i);
    leak.push_back(10 + i);
    flat.push_back(10);
    plateau.push_back(i < 10 ? 10 + i : 20);
  }
  EXPECT_TRUE(is_steady_growth(trend(x, leak), 0.2));
  EXPECT_FALSE(is_plateau(trend(x, leak)));
  EXPECT_TRUE(is_plateau(trend(x, plateau)));
  EXPECT_FALSE(is_steady_growth(trend(x, plateau), 0.2));
  EXPECT_FALSE(is_steady_growth(trend(x, flat), 0.2));
  EXPECT_FALSE(is_plateau(trend(x, flat)));
}

}  // namespace
}  // namespace holter::analytics
