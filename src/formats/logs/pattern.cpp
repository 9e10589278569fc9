// SPDX-License-Identifier: Apache-2.0
#include "formats/logs/pattern.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "base/strings.h"

namespace holter::formats::logs {

namespace {

// Kept to the end of the program: their number is that of the patterns in the source.
const re2::RE2& compiled(std::string_view pattern) {
  static std::mutex mutex;
  static std::map<std::string, re2::RE2, std::less<>> patterns;
  const std::lock_guard lock(mutex);
  if (const auto found = patterns.find(pattern); found != patterns.end()) return found->second;
  return patterns.try_emplace(std::string(pattern), pattern, pattern_options()).first->second;
}

}  // namespace

re2::RE2::Options pattern_options() {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  return options;
}

Pattern::Pattern(std::string_view pattern) : re_(compiled(pattern)) {}

bool Pattern::match(std::string_view text) {
  const int captures = std::min(re_.NumberOfCapturingGroups() + 1, kMaxCaptures);
  return re_.Match(text, 0, text.size(), re2::RE2::UNANCHORED, groups_, captures);
}

std::string_view Pattern::operator[](int i) const {
  const auto& g = groups_[i + 1];
  return g.data() ? std::string_view(g.data(), g.size()) : std::string_view();
}

std::int64_t Pattern::number(int i, std::int64_t otherwise) const {
  return base::to_int<std::int64_t>((*this)[i]).value_or(otherwise);
}

void add_field(model::Event& event, model::Evidence& out, std::string_view key, std::string_view value) {
  constexpr std::size_t kMaxValue = 300;
  if (!value.empty()) event.fields.emplace_back(out.intern(key), out.intern(value.substr(0, kMaxValue)));
}

}  // namespace holter::formats::logs
