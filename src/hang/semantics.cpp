// SPDX-License-Identifier: Apache-2.0
#include "hang/semantics.h"

namespace holter::hang {

std::string op_key(std::string_view op) {
  std::string key;
  for (const char c : op) {
    if (c >= 'A' && c <= 'Z') key += static_cast<char>(c + 32);
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) key += c;
    else if (c == ' ') break;  // "send 0->1"
  }
  return key;
}

SemanticsTable::SemanticsTable(const model::Rules& rules) {
  const auto found = rules.tables.find("collectives.csv");
  if (found == rules.tables.end()) return;
  for (const auto& row : found->second.rows) {
    by_key_[op_key(row[0])] = {row[1], row[2] == "yes", row[3] == "yes", row[4] != "none"};
  }
}

Semantics SemanticsTable::of(std::string_view op) const {
  const std::string key = op_key(op);
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  return {key, false, false, false};
}

}  // namespace holter::hang
