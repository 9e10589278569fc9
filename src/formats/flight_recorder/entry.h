// SPDX-License-Identifier: Apache-2.0
// One entry of a dump, out of its keys and values.
#pragma once

#include <optional>
#include <unordered_map>

#include "formats/flight_recorder/value_stack.h"

namespace holter::formats::flight_recorder {

class EntryDecoder {
 public:
  EntryDecoder(const ValueStack& stack, model::Evidence& out) : stack_(stack), out_(out) {}

  // Nothing when it has neither a name nor a sequence number.
  std::optional<model::FrEntry> decode(std::span<const Value> pairs);

 private:
  struct Raw {  // what needs a second look when all keys have been seen
    Value name, group, input_sizes, output_sizes, input_dtypes, output_dtypes, frames, seq_id, is_p2p;
  };
  void field(Key key, const Value& v, model::FrEntry& entry, Raw& raw);
  void set_name(model::StrId profiling_name, model::FrEntry& entry);
  void set_group(const Value& v, model::FrEntry& entry);
  model::ShapeId shape(const Raw& raw);
  model::StrId sizes_text(const Value& v, std::uint64_t& numel);
  model::StrId dtypes_text(const Value& v);
  model::FrameListId frames(const Value& v);

  // "nccl:all_reduce" -> backend and operation, worked out once per distinct name.
  struct Name {
    model::StrId backend, op;
    bool looks_p2p;
  };

  const ValueStack& stack_;
  model::Evidence& out_;
  std::unordered_map<std::uint32_t, Name> names_;
  std::string text_;
  std::vector<model::Frame> frames_;
};

}  // namespace holter::formats::flight_recorder
