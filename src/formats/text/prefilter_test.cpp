// SPDX-License-Identifier: Apache-2.0
#include "formats/text/prefilter.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace holter::formats::text {
namespace {

TEST(Prefilter, finds_all_literals_without_case) {
  const Prefilter filter({{"watchdog", 1}, {"watchdog caught", 2}, {"NCCL WARN", 4}, {"caught", 8}});
  EXPECT_EQ(filter.masks("Watchdog caught x"), 11u);
  EXPECT_EQ(filter.masks("nccl warn"), 4u);
  EXPECT_EQ(filter.masks("watchdo"), 0u);
  EXPECT_EQ(filter.masks(""), 0u);
}

TEST(Prefilter, equal_literals_share_their_masks) {
  const Prefilter filter({{"abc", 1}, {"ABC", 2}});
  EXPECT_EQ(filter.masks("xabcx"), 3u);
}

// Against plain search, on texts of few letters so that everything overlaps.
TEST(Prefilter, agrees_with_plain_search) {
  std::mt19937 random(7);
  const auto word = [&](std::size_t n) {
    std::string s;
    for (std::size_t i = 0; i < n; ++i) s += "abC [1"[random() % 6];
    return s;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<Prefilter::Literal> literals;
    for (int i = 0; i < 20; ++i) literals.push_back({word(1 + random() % 9), std::uint64_t{1} << i});
    const Prefilter filter(literals);
    const auto text = word(random() % 200);
    std::uint64_t want = 0;
    for (const auto& l : literals) {
      if (base::lower(text).find(base::lower(l.text)) != std::string::npos) want |= l.mask;
    }
    EXPECT_EQ(filter.masks(text), want) << text;
  }
}

}  // namespace
}  // namespace holter::formats::text
