// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"

#include <gmock/gmock.h>

namespace holter::base {
namespace {

using ::testing::ElementsAre;

TEST(Strings, split_and_trim) {
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split_blanks("  a \t b "), ElementsAre("a", "b"));
  EXPECT_EQ(trim(" \t x y\r\n"), "x y");
}

TEST(Strings, numbers_need_the_whole_text) {
  EXPECT_EQ(to_int<int>("42"), 42);
  EXPECT_EQ(to_int<int>("42x"), std::nullopt);
  EXPECT_EQ(to_int<int>(""), std::nullopt);
  EXPECT_EQ(to_int<unsigned>("ff", 16), 255u);
  EXPECT_EQ(to_double("2.5"), 2.5);
}

TEST(Strings, printable_leaves_nothing_for_the_terminal) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(printable("\xff"), "\xEF\xBF\xBD");
  EXPECT_EQ(printable("gr\xC3\xBC"
                      "n"),
            "gr\xC3\xBC"
            "n");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\xEF\xBF\xBD"
            "31m");
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6"
                      "c\xE2\x80\x93"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD"
            "c\xE2\x80\x93");  // RLO, LRI; the dash stays
}

TEST(Strings, ellipsize_keeps_characters_whole) {
  EXPECT_EQ(ellipsize("abcdef", 6), "abcdef");
  EXPECT_EQ(ellipsize("abcdefg", 6), "abc...");
  EXPECT_EQ(ellipsize("ab\xC3\xBC"
                      "def",
                      6),
            "ab...");
}

TEST(Strings, edit_distance_counts_edits) {
  EXPECT_EQ(edit_distance("diagnose", "diagnose"), 0u);
  EXPECT_EQ(edit_distance("diagose", "diagnose"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

}  // namespace
}  // namespace holter::base
