// SPDX-License-Identifier: Apache-2.0
#include "formats/text/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holter::formats::text {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> lines_of(std::string_view text, std::size_t chunk, std::uint64_t* dropped = nullptr) {
  MemorySource source(text, chunk);
  LineReader reader(source);
  std::vector<std::string> lines;
  for (auto block = reader.next_block(); !block.empty(); block = reader.next_block()) {
    while (!block.empty()) lines.emplace_back(next_line(block));
  }
  if (dropped) *dropped = reader.dropped_bytes();
  return lines;
}

TEST(LineReader, line_ends_and_chunks_of_any_size) {
  for (const std::size_t chunk : {1, 2, 3, 5, 64}) {
    EXPECT_THAT(lines_of("a\r\n\nbc\nlast", chunk), ElementsAre("a", "", "bc", "last")) << chunk;
    EXPECT_THAT(lines_of("a\n", chunk), ElementsAre("a")) << chunk;
    EXPECT_THAT(lines_of("", chunk), ElementsAre()) << chunk;
  }
  EXPECT_THAT(lines_of("\xef\xbb\xbfx\n", 64), ElementsAre("x"));
}

TEST(LineReader, a_line_over_many_chunks_is_cut_and_counted) {
  const std::string text = std::string(200'000, 'x') + "\nnext\n";
  std::uint64_t dropped = 0;
  const auto lines = lines_of(text, 1000, &dropped);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), kMaxLine);
  EXPECT_EQ(lines[1], "next");
  EXPECT_EQ(dropped, 200'000 - kMaxLine);
}

TEST(LineReader, counts_newlines) {
  std::string text(1000, '\x0b');  // one above '\n': borrows must not make it count
  text[0] = text[7] = text[8] = text[999] = '\n';
  EXPECT_EQ(count_newlines(text), 4u);
  EXPECT_EQ(count_newlines(""), 0u);
}

}  // namespace
}  // namespace holter::formats::text
