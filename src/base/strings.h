// SPDX-License-Identifier: Apache-2.0
// Text helpers that the standard library of g++ 12 lacks. All functions are pure.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holter::base {

std::string_view trim(std::string_view text);
std::string lower(std::string_view text);
// Fields between separators; empty fields are kept.
std::vector<std::string_view> split(std::string_view text, char separator);
// Fields between runs of blanks and tabs; none is empty.
std::vector<std::string_view> split_blanks(std::string_view text);
bool contains_ignore_case(std::string_view text, std::string_view part);
// At most `limit` bytes, cut at a UTF-8 boundary and ended with "..." when cut.
std::string ellipsize(std::string_view text, std::size_t limit);
// Control bytes, bidirectional controls and invalid UTF-8 replaced by U+FFFD or escapes, so that it
// is safe on a terminal and reads in the order in which it is written.
std::string printable(std::string_view text);
// Number of edits between two words, for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b);

// The whole text as a number, or nothing. base 16 takes no 0x.
template <typename Int>
std::optional<Int> to_int(std::string_view text, int base = 10) {
  Int value{};
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}
std::optional<double> to_double(std::string_view text);

}  // namespace holter::base
