// SPDX-License-Identifier: Apache-2.0
#include "base/string_pool.h"

#include <string>

#include <gtest/gtest.h>

namespace holter::base {
namespace {

TEST(StringPool, equal_text_has_equal_id) {
  StringPool pool;
  const StrId a = pool.intern("all_reduce");
  EXPECT_EQ(a, pool.intern(std::string("all_") + "reduce"));
  EXPECT_NE(a, pool.intern("barrier"));
  EXPECT_EQ(pool.view(a), "all_reduce");
  EXPECT_EQ(pool.intern(""), StrId::kEmpty);
}

TEST(StringPool, text_survives_growth_and_moves) {
  StringPool pool;
  const StrId first = pool.intern("first");
  for (int i = 0; i < 100000; ++i) pool.intern("word" + std::to_string(i));
  pool.intern(std::string(1 << 20, 'x'));
  StringPool moved = std::move(pool);
  EXPECT_EQ(moved.view(first), "first");
  EXPECT_EQ(moved.view(moved.intern("word99999")), "word99999");
}

TEST(StringPool, remap_translates_ids) {
  StringPool a, b;
  a.intern("x");
  const StrId y = b.intern("y");
  const StrId x = b.intern("x");
  const auto map = a.remap(b);
  EXPECT_EQ(a.view(map[static_cast<std::uint32_t>(x)]), "x");
  EXPECT_EQ(a.view(map[static_cast<std::uint32_t>(y)]), "y");
}

}  // namespace
}  // namespace holter::base
