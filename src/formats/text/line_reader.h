// SPDX-License-Identifier: Apache-2.0
// Bytes -> blocks of whole lines, with bounded memory, without copying what lies inside one chunk.
#pragma once

#include <string>
#include <string_view>

#include "formats/reader.h"

namespace holter::formats::text {

constexpr std::size_t kMaxLine = 64 * 1024;

class LineReader {
 public:
  explicit LineReader(ByteSource& source) : source_(source) {}

  // The next block: whole lines, the last one ended by '\n' unless it is the last of the input.
  // Empty at the end. Valid until the next call. A line that spans chunks is cut after kMaxLine
  // bytes and the rest counted; a longer line inside one chunk is left to next_line() to cut.
  std::string_view next_block();
  std::uint64_t dropped_bytes() const { return dropped_; }

 private:
  void keep(std::string_view part);

  ByteSource& source_;
  std::string_view pending_;  // rest of the current chunk
  std::string carry_;         // a line that began in an earlier chunk
  std::string block_;         // what was handed out of carry_
  std::uint64_t dropped_ = 0;
  bool first_ = true;
  bool open_ = false;  // carry_ holds a line, possibly an empty one
};

// Takes the first line off `block`, without its end ("\n" or "\r\n").
std::string_view next_line(std::string_view& block);
// How many '\n' there are.
std::uint64_t count_newlines(std::string_view text);

}  // namespace holter::formats::text
