// SPDX-License-Identifier: Apache-2.0
// What a column or metric is about, from its name: rules/columns.csv maps meanings to patterns over
// names in lower case with '_' between words ("Power Draw [W]" is power_draw_w).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <re2/re2.h>

#include "model/rules.h"

namespace holter::analytics {

class ColumnMeanings {
 public:
  // The table is parsed once per Rules object and kept for the life of this object.
  explicit ColumnMeanings(const model::Rules& rules);
  bool is(std::string_view meaning, std::string_view name) const;

 private:
  std::map<std::string, std::unique_ptr<re2::RE2>, std::less<>> patterns_;
};

// "Power Draw [W]" -> "power_draw_w".
std::string normalised_name(std::string_view name);

}  // namespace holter::analytics
