// SPDX-License-Identifier: Apache-2.0
// rules/stacks.toml -> model::StackRules.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/rules.h"

namespace holter::formats::rules {

// An unknown key or kind, an entry without pattern or meaning, or a duplicate id is an error that
// names file and id. Patterns are compiled by who uses them.
base::Result<bool> read_stack_rules(const std::string& path, std::string_view text, model::Rules& out);

}  // namespace holter::formats::rules
