// SPDX-License-Identifier: Apache-2.0
#include "formats/text/line_reader.h"

#include <algorithm>
#include <cstring>

namespace holter::formats::text {

void LineReader::keep(std::string_view part) {
  open_ = open_ || !part.empty();
  const auto room = kMaxLine - std::min(kMaxLine, carry_.size());
  const auto take = std::min(room, part.size());
  carry_.append(part.substr(0, take));
  dropped_ += part.size() - take;
}

std::string_view LineReader::next_block() {
  for (;;) {
    if (pending_.empty()) {
      pending_ = source_.next();
      if (pending_.empty()) break;
      if (first_ && pending_.starts_with("\xef\xbb\xbf")) pending_.remove_prefix(3);
      first_ = false;
      continue;
    }
    if (open_) {
      const auto end = pending_.find('\n');
      keep(pending_.substr(0, end));
      if (end == std::string_view::npos) {
        pending_ = {};
        continue;
      }
      carry_ += '\n';
      pending_.remove_prefix(end + 1);
    } else {
      const auto end = pending_.rfind('\n');
      if (end != std::string_view::npos) {
        const auto block = pending_.substr(0, end + 1);
        pending_.remove_prefix(end + 1);
        return block;
      }
      keep(pending_);
      pending_ = {};
      continue;
    }
    block_.swap(carry_);
    carry_.clear();
    open_ = false;
    return block_;
  }
  block_.swap(carry_);
  carry_.clear();
  open_ = false;
  return block_;
}

std::string_view next_line(std::string_view& block) {
  const auto end = block.find('\n');
  auto line = block.substr(0, end);
  block.remove_prefix(end == std::string_view::npos ? block.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::uint64_t count_newlines(std::string_view text) {
  constexpr std::uint64_t kLow7 = 0x7f7f7f7f7f7f7f7fULL, kNewlines = 0x0a0a0a0a0a0a0a0aULL;
  std::uint64_t count = 0;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    word ^= kNewlines;
    // The high bit of every byte that is zero, without borrows between bytes.
    const auto zeros = ~(((word & kLow7) + kLow7) | word | kLow7);
    count += ((zeros >> 7) * 0x0101010101010101ULL) >> 56;  // adds the bytes up
  }
  for (; i < text.size(); ++i) count += text[i] == '\n';
  return count;
}

}  // namespace holter::formats::text
