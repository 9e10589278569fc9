// SPDX-License-Identifier: Apache-2.0
#include "analytics/columns.h"

namespace holter::analytics {

std::string normalised_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (word) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

ColumnMeanings::ColumnMeanings(const model::Rules& rules) {
  const auto table = rules.tables.find("columns.csv");
  if (table == rules.tables.end()) return;
  for (const auto& row : table->second.rows) {
    if (row.size() == 2) patterns_[row[0]] = std::make_unique<re2::RE2>(row[1], re2::RE2::Quiet);
  }
}

bool ColumnMeanings::is(std::string_view meaning, std::string_view name) const {
  const auto pattern = patterns_.find(meaning);
  if (pattern == patterns_.end() || !pattern->second->ok()) return false;
  const auto text = normalised_name(name);
  return re2::RE2::PartialMatch(text, *pattern->second);
}

}  // namespace holter::analytics
