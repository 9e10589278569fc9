// SPDX-License-Identifier: Apache-2.0
// "NODE-2": the number of a name among the names of its kind, in the order in which they were met.
// Not thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <re2/re2.h>

namespace holter::report::share {

// Placeholders stand between these while a text is worked on, so that no later rule looks into them.
inline constexpr char kOpen = '\x01', kClose = '\x02';

inline bool is_mark(char c) { return c == kOpen || c == kClose; }

inline bool inside_placeholder(std::string_view text, std::size_t at) {
  const auto open = text.rfind(kOpen, at), close = text.rfind(kClose, at);
  return open != std::string_view::npos && (close == std::string_view::npos || close < open);
}

class Placeholders {
 public:
  // `suffix` tells what the thing was ("-rank3.log").
  std::string of(std::string_view kind, std::string_view name, std::string_view suffix = {}) {
    auto& number = numbers_[std::string(kind) + '\0' + std::string(name)];
    if (number == 0) number = ++counts_[std::string(kind)];
    return kOpen + std::string(kind) + '-' + std::to_string(number) + std::string(suffix) + kClose;
  }

 private:
  std::map<std::string, int> numbers_, counts_;
};

// Replaces group 1 of every match. A match that begins in a placeholder stays; one that holds or
// touches placeholders takes them with it.
template <typename Replace>
void replace_matches(std::string& value, const RE2& pattern, Replace replace) {
  std::string out;
  std::size_t from = 0;
  re2::StringPiece groups[2];
  while (from < value.size() && pattern.Match(value, from, value.size(), RE2::UNANCHORED, groups, 2)) {
    const auto start = static_cast<std::size_t>(groups[1].data() - value.data());
    std::size_t end = start + groups[1].size();
    if (end == start) break;
    const bool in = inside_placeholder(value, start) && value[start] != kOpen;
    if (inside_placeholder(value, end - 1)) end = value.find(kClose, end - 1) + 1;
    out.append(value, from, start - from);
    const std::string found = value.substr(start, end - start);
    out += in ? found : replace(std::string_view(found));
    from = end;
  }
  if (from == 0) return;
  if (from < value.size()) out.append(value, from, std::string::npos);
  value = std::move(out);
}

}  // namespace holter::report::share
