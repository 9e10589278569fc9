// SPDX-License-Identifier: Apache-2.0
// A cursor over one line: takes literals and numbers from the front.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>

namespace holter::formats::stacks {

class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  std::string_view rest() const { return text_; }
  bool skip(std::string_view literal) {
    if (!text_.starts_with(literal)) return false;
    text_.remove_prefix(literal.size());
    return true;
  }
  void skip_any(std::string_view characters) {
    text_.remove_prefix(std::min(text_.size(), text_.find_first_not_of(characters)));
  }
  // Text before `end`, which is taken too; all of it when `end` is not there.
  std::string_view until(char end) { return take(text_.find(end)); }
  std::string_view until_last(char end) { return take(text_.rfind(end)); }
  template <typename Int>
  bool number(Int& out, int base = 10) {
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), out, base);
    if (error != std::errc() || out < 0) return false;
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    return true;
  }
  template <typename Int>
  bool number_or_hex(Int& out) {
    return skip("0x") ? number(out, 16) : number(out);
  }

 private:
  std::string_view take(std::size_t at) {
    const auto out = text_.substr(0, at);
    text_.remove_prefix(at == std::string_view::npos ? text_.size() : at + 1);
    return out;
  }

  std::string_view text_;
};

}  // namespace holter::formats::stacks
