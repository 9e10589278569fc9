// SPDX-License-Identifier: Apache-2.0
#include "evidence/encoding.h"

#include <gtest/gtest.h>

#include "evidence/testing.h"

namespace holter::evidence {
namespace {

using testing::read_all;
using testing::TextStream;

const std::string kText = "rank 3 stopped \u00e4 \u20ac \U0001F600 here\r\nsecond line of the log\r\n";

// ASCII and the characters of kText, by hand.
std::string utf16(bool little, bool mark) {
  std::u16string units = u"rank 3 stopped \u00e4 \u20ac \U0001F600 here\r\nsecond line of the log\r\n";
  if (mark) units.insert(units.begin(), u'\uFEFF');
  std::string out;
  for (const char16_t u : units) {
    const char low = static_cast<char>(u & 0xFF), high = static_cast<char>(u >> 8);
    out += little ? low : high;
    out += little ? high : low;
  }
  return out;
}

std::string decoded(std::string_view data, std::size_t chunk) {
  TextStream inner(data, chunk);
  const auto text = as_utf8(detect_encoding(data), inner);
  return read_all(*text);
}

TEST(Encoding, utf_16_and_marks_are_read_as_text_whatever_the_chunks) {
  for (const std::size_t chunk : {1, 2, 3, 7, 4096}) {
    for (const bool little : {true, false}) {
      EXPECT_EQ(decoded(utf16(little, true), chunk), kText);
      EXPECT_EQ(decoded(utf16(little, false), chunk), kText);
    }
    EXPECT_EQ(decoded("\xEF\xBB\xBF" + kText, chunk), kText);
  }
}

TEST(Encoding, half_characters_are_marked_and_never_lost_silently) {
  const auto data = utf16(true, true);
  EXPECT_TRUE(decoded(data.substr(0, data.size() - 1), 4096).ends_with("\r\uFFFD"));
  EXPECT_EQ(decoded(utf16(true, true) + std::string("\x00\xD8x\0", 4), 5), kText + "\uFFFDx");
}

TEST(Encoding, binary_data_is_left_alone) {
  EXPECT_EQ(detect_encoding(kText), Encoding::kBytes);
  EXPECT_EQ(detect_encoding(""), Encoding::kBytes);
  EXPECT_EQ(detect_encoding(std::string_view("\xFF\xFE\0\0a\0\0\0", 8)), Encoding::kBytes);  // UTF-32
  std::string numbers;
  for (int i = 0; i < 64; ++i) numbers += static_cast<char>(i), numbers += '\0';
  EXPECT_EQ(detect_encoding(numbers), Encoding::kBytes);
  EXPECT_EQ(detect_encoding("\x80\x02}q\x01(X\x07\0\0\0versionq"), Encoding::kBytes);
}

}  // namespace
}  // namespace holter::evidence
