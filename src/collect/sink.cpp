// SPDX-License-Identifier: Apache-2.0
#include "collect/sink.h"

#include "base/strings.h"

namespace holter::collect {

namespace {

constexpr std::size_t kMaxName = 99;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

std::string safe_name(std::string_view name) {
  std::string out;
  for (const auto part : base::split(name, '/')) {
    if (part.empty()) continue;
    if (!out.empty()) out += '/';
    const auto begin = out.size();
    for (const char c : part) out += is_plain(c) ? c : '_';
    if (out[begin] == '.') out[begin] = '_';
  }
  if (out.size() > kMaxName) out.resize(kMaxName);
  while (!out.empty() && out.back() == '/') out.pop_back();
  return out.empty() ? "unnamed" : out;
}

}  // namespace holter::collect
