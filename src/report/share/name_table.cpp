// SPDX-License-Identifier: Apache-2.0
#include "report/share/name_table.h"

#include <algorithm>

#include "base/strings.h"
#include "report/share/placeholders.h"

namespace holter::report::share {

namespace {

bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool joins(char c, Edge edge) {
  if (is_alnum(c)) return true;
  return (edge != Edge::kPart && c == '_') || (edge == Edge::kWord && c == '-');
}

// Whether a name of any edge may begin or end between these two bytes.
bool is_edge(char before, char after) { return !(is_alnum(before) && is_alnum(after)); }

}  // namespace

bool NameTable::add(std::string spelling, KnownName name) {
  if (spelling.empty()) return false;
  longest_ = std::max(longest_, spelling.size());
  std::string key = base::lower(spelling);
  name.spelling = std::move(spelling);
  return names_.emplace(std::move(key), std::move(name)).second;
}

bool NameTable::contains(std::string_view spelling) const { return names_.contains(base::lower(spelling)); }

const KnownName* NameTable::longest_at(std::string_view value, std::string_view lower, std::size_t at) const {
  std::size_t limit = at;
  while (limit < value.size() && limit - at < longest_ && !is_mark(value[limit]) && value[limit] != '\n') ++limit;
  for (std::size_t end = limit; end > at; --end) {
    if (end < value.size() && !is_edge(value[end - 1], value[end])) continue;
    const auto found = names_.find(std::string(lower.substr(at, end - at)));
    if (found == names_.end()) continue;
    const auto& name = found->second;
    const bool same = name.any_case || value.substr(at, end - at) == name.spelling;
    const bool free =
        (at == 0 || !joins(value[at - 1], name.edge)) && (end == value.size() || !joins(value[end], name.edge));
    if (same && free) return &name;
  }
  return nullptr;
}

void NameTable::replace(std::string& value, const std::function<std::string(const KnownName&)>& show) const {
  if (names_.empty() || value.empty()) return;
  const std::string lower = base::lower(value);
  std::string out;
  bool inside = false;
  for (std::size_t at = 0; at < value.size();) {
    const char c = value[at];
    if (is_mark(c)) inside = c == kOpen;
    const bool begins = !inside && !is_mark(c) && c > ' ' && (at == 0 || is_edge(value[at - 1], c));
    const KnownName* name = begins ? longest_at(value, lower, at) : nullptr;
    if (!name) {
      out += c;
      ++at;
      continue;
    }
    out += show(*name);
    at += name->spelling.size();
  }
  value = std::move(out);
}

}  // namespace holter::report::share
