// SPDX-License-Identifier: Apache-2.0
// What is known of each collective: which sizes must agree and who may leave early
// (rules/collectives.csv), and names of one operation across sources.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/rules.h"

namespace holter::hang {

struct Semantics {
  std::string family;  // "all_reduce", "p2p"; the name itself when the table does not know it
  bool in_must_match = false;
  bool out_must_match = false;
  bool rooted = false;  // the root or the others may leave before the rest
};

class SemanticsTable {
 public:
  explicit SemanticsTable(const model::Rules& rules);
  // `op` as any source writes it: "_all_gather_base", "_ALLGATHER_BASE", "AllReduce".
  Semantics of(std::string_view op) const;

 private:
  std::map<std::string, Semantics, std::less<>> by_key_;
};

// Letters and digits in lower case: "_ALLGATHER_BASE" and "_all_gather_base" are one key.
std::string op_key(std::string_view op);

}  // namespace holter::hang
