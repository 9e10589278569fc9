// SPDX-License-Identifier: Apache-2.0
// Lines of terminal text: wrapping by display width, one emphasis colour, indentation. Takes text from
// outside as it is and prints it safely.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holter::report {

enum class Tone : std::uint8_t { kPlain, kBold, kCulprit, kMuted };

// Columns that printable UTF-8 text takes: wide East Asian characters take two, combining marks none.
std::size_t display_width(std::string_view text);
// At most `columns` wide, ended with "..." when cut; in the middle when `middle` (for paths).
std::string fit(std::string_view text, std::size_t columns, bool middle = false);
// Words wrapped to `columns`; a longer word is cut. At most `max_lines`, the last one ended with "...".
std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::size_t max_lines);

class Lines {
 public:
  Lines(bool colour, std::size_t width) : colour_(colour), width_(width) {}

  std::size_t width() const { return width_; }
  std::size_t count() const { return lines_.size(); }
  void blank() {
    if (!lines_.empty() && !lines_.back().empty()) lines_.emplace_back();
  }
  void heading(std::string_view text) { add("", text, Tone::kBold, 1); }
  // `lead` before the first line ("  E1 "), equal blanks before the others.
  void add(std::string_view lead, std::string_view text, Tone tone = Tone::kPlain, std::size_t max_lines = 100);
  // One line with `left` and, at the right margin, `right`.
  void spread(std::string_view left, Tone tone, std::string_view right);
  void append(const Lines& other) { lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end()); }
  void truncate(std::size_t lines) {
    if (lines_.size() > lines) lines_.resize(lines);
  }
  std::string text() const;

 private:
  std::string toned(std::string_view text, Tone tone) const;

  bool colour_;
  std::size_t width_;
  std::vector<std::string> lines_;
};

}  // namespace holter::report
