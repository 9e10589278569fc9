// SPDX-License-Identifier: Apache-2.0
#include "base/large_vector.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace holter::base {
namespace {

TEST(LargeVector, keeps_what_it_holds_while_it_grows_past_the_first_huge_page) {
  constexpr std::uint64_t kItems = 3 << 20;  // 24 MB
  LargeVector<std::uint64_t> items;
  for (std::uint64_t i = 0; i < kItems; ++i) items.push_back(i);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < kItems; ++i) wrong += items[i] != i;
  EXPECT_EQ(wrong, 0U);
  const LargeVector<std::uint64_t> moved = std::move(items);
  EXPECT_EQ(moved.back(), kItems - 1);
}

TEST(LargeVector, refuses_impossible_sizes) {
  LargeAllocator<std::uint64_t> allocator;
  EXPECT_THROW((void)allocator.allocate(static_cast<std::size_t>(-1) / 4), std::bad_array_new_length);
}

}  // namespace
}  // namespace holter::base
