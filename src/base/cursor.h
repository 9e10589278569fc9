// SPDX-License-Identifier: Apache-2.0
// A position in one line of text: takes literals, words and numbers off its front. For formats that
// are too many and too hot for regular expressions. Nothing is copied; nothing throws.
//
//   Cursor c("rank 3 nranks 8");
//   c.eat("rank "); auto rank = c.number<int>();
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace holter::base {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

  // Takes `literal` when it stands next.
  bool eat(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  void blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  // Moves behind the first `literal`; stays where it is when there is none.
  bool skip_past(std::string_view literal) {
    const auto at = rest_.find(literal);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + literal.size());
    return true;
  }
  // Text up to the first of `stops` or the end; the stop itself stays.
  std::string_view until(std::string_view stops) {
    const auto out = rest_.substr(0, rest_.find_first_of(stops));
    rest_.remove_prefix(out.size());
    return out;
  }
  // The next word between blanks.
  std::string_view word() {
    blanks();
    return until(" \t\r\n");
  }
  // The number that stands next ("12", "-1"), or nothing and no move.
  template <typename Int>
  std::optional<Int> number(int base = 10) {
    Int value{};
    const auto end = rest_.data() + rest_.size();
    const auto [stop, error] = std::from_chars(rest_.data(), end, value, base);
    if (error != std::errc() || stop == rest_.data()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    return value;
  }

 private:
  std::string_view rest_;
};

// The text between `open` and the first of `stops` behind it; empty when `open` does not stand there.
inline std::string_view between(std::string_view text, std::string_view open, std::string_view stops) {
  Cursor c(text);
  return c.skip_past(open) ? c.until(stops) : std::string_view();
}

}  // namespace holter::base
