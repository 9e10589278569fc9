// SPDX-License-Identifier: Apache-2.0
// Reading values leniently: JSON dumps hold numbers as strings and 0 for "none", old versions hold less.
#pragma once

#include <optional>

#include "formats/flight_recorder/value_stack.h"

namespace holter::formats::flight_recorder {

// Integers, whole floats and strings of digits; nothing otherwise.
std::optional<std::int64_t> as_int(const Value& v, const model::Evidence& evidence);
inline std::int64_t int_or(const Value& v, const model::Evidence& evidence, std::int64_t otherwise) {
  return v.kind == Kind::kInt ? v.integer : as_int(v, evidence).value_or(otherwise);
}
bool as_bool(const Value& v, const model::Evidence& evidence);
// Strings; empty for anything else.
model::StrId as_string(const Value& v, const ValueStack& stack, model::Evidence& evidence);
// "[0, 1]" or a list of integers.
model::RankListId as_rank_list(const Value& v, const ValueStack& stack, model::Evidence& evidence);

// The value of `key` among `pairs`; none when absent.
Value find(std::span<const Value> pairs, Key key);

}  // namespace holter::formats::flight_recorder
