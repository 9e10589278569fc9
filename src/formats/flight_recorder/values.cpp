// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/values.h"

#include <cmath>

#include "base/strings.h"

namespace holter::formats::flight_recorder {

std::optional<std::int64_t> as_int(const Value& v, const model::Evidence& evidence) {
  switch (v.kind) {
    case Kind::kInt: return v.integer;
    case Kind::kFloat:
      // 2^63 does not fit; NaN fails both comparisons.
      if (v.real >= -9.2e18 && v.real <= 9.2e18) return static_cast<std::int64_t>(std::llround(v.real));
      return std::nullopt;
    case Kind::kString: return base::to_int<std::int64_t>(base::trim(evidence.text(model::StrId{v.id})));
    default: return std::nullopt;
  }
}

bool as_bool(const Value& v, const model::Evidence& evidence) {
  if (v.kind == Kind::kBool) return v.integer != 0;
  if (v.kind == Kind::kString) {
    const auto text = base::lower(evidence.text(model::StrId{v.id}));
    return text == "true" || text == "1";
  }
  return v.kind == Kind::kInt && v.integer != 0;
}

model::StrId as_string(const Value& v, const ValueStack& stack, model::Evidence& evidence) {
  if (v.kind == Kind::kString) return model::StrId{v.id};
  if (v.kind == Kind::kText) return evidence.intern(base::ellipsize(stack.long_text(v), 1024));
  if (v.kind == Kind::kInt) return evidence.intern(std::to_string(v.integer));
  return model::StrId::kEmpty;
}

model::RankListId as_rank_list(const Value& v, const ValueStack& stack, model::Evidence& evidence) {
  if (v.kind == Kind::kRankList) return model::RankListId{v.id};
  if (v.kind == Kind::kString) return evidence.intern_rank_list(evidence.text(model::StrId{v.id}));
  if (v.kind == Kind::kText) return evidence.intern_rank_list(stack.long_text(v));
  if (v.kind != Kind::kList && v.kind != Kind::kTuple) return model::RankListId::kNone;
  std::string text = "[";
  for (const auto& item : stack.items(v)) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(int_or(item, evidence, -1));
  }
  return evidence.intern_rank_list(text + "]");
}

Value find(std::span<const Value> pairs, Key key) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (pairs[i].key == key && pairs[i].kind == Kind::kString) return pairs[i + 1];
  }
  return {};
}

}  // namespace holter::formats::flight_recorder
