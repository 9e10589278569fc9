// SPDX-License-Identifier: Apache-2.0
// What the tables of rules/ know of a word: a cause, an Xid or SXid number, a signature.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/rules.h"

namespace holter::report {

struct Knowledge {
  std::string kind;  // "cause", "xid", "sxid", "signature"
  std::string id;    // "nic_link_flap", "79"
  std::string title;
  std::vector<std::pair<std::string, std::string>> fields;  // name as in the table, value
};

// All that match: "79" is an Xid and perhaps an SXid; "xid 79", "Xid:79" and "sxid20034" name one kind.
std::vector<Knowledge> explain(const model::Rules& rules, std::string_view word);
// Names that the word may have meant, the nearest first; at most five.
std::vector<std::string> suggestions(const model::Rules& rules, std::string_view word);

std::string explain_text(const std::vector<Knowledge>& found, int width);
std::string explain_json(const std::vector<Knowledge>& found);  // holter.explain/1

}  // namespace holter::report
