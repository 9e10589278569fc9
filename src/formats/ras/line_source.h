// SPDX-License-Identifier: Apache-2.0
// Lines and characters of one input in turn, with the line number.
#pragma once

#include <optional>
#include <string>

#include "formats/byte_cursor.h"

namespace holter::formats::ras {

class LineSource {
 public:
  static constexpr std::size_t kMaxLine = 64 * 1024;  // the rest of a longer line is dropped

  explicit LineSource(ByteSource& source) : in_(source) {}

  std::uint64_t line() const { return line_; }
  bool at_end() { return in_.peek() < 0; }
  int peek() { return in_.peek(); }
  int get() {
    const int c = in_.get();
    if (c == '\n') ++line_;
    return c;
  }
  // Blanks and empty lines.
  void skip_blank() {
    for (int c = peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = peek()) get();
  }
  // The rest of the current line without its end; nothing at the end of the input.
  std::optional<std::string> rest_of_line() {
    if (at_end()) return std::nullopt;
    std::string text;
    for (int c = get(); c >= 0 && c != '\n'; c = get()) {
      if (text.size() < kMaxLine) text += static_cast<char>(c);
    }
    if (!text.empty() && text.back() == '\r') text.pop_back();
    return text;
  }

 private:
  ByteCursor in_;
  std::uint64_t line_ = 1;
};

}  // namespace holter::formats::ras
