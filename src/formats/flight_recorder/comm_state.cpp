// SPDX-License-Identifier: Apache-2.0
// Layout after meta-pytorch/torchcomms (proxy trace): every operation is {collInfo{commHash, opCount},
// channelId, nSteps, remoteRank, opType, done} and per status {step, ts}.
#include "formats/flight_recorder/comm_state.h"

#include "formats/flight_recorder/json.h"
#include "formats/flight_recorder/values.h"

namespace holter::formats::flight_recorder {

namespace {

constexpr std::size_t kMaxOps = 100'000;

class CommStateReader {
 public:
  CommStateReader(model::Evidence& out, std::vector<model::ProxyOp>& ops) : out_(out), ops_(ops) {}

  void read_text(std::string_view json) {
    ValueStack nested(out_, nullptr);
    MemorySource source(json);
    (void)run_json(source, nested);
    nested.close_all();
    stack_ = &nested;
    walk(nested.root(), 0);
    stack_ = nullptr;
  }

 private:
  // Operations stand in lists, alone or under their collective.
  void walk(const Value& v, int depth) {
    if (depth > 4 || ops_.size() >= kMaxOps) return;
    const auto items = stack_->items(v);
    if (v.kind == Kind::kDict && is_op(items)) {
      ops_.push_back(read_op(items));
      return;
    }
    for (std::size_t i = v.kind == Kind::kDict ? 1 : 0; i < items.size(); i += v.kind == Kind::kDict ? 2 : 1) {
      if (items[i].is_container()) walk(items[i], depth + 1);
    }
  }

  bool is_op(std::span<const Value> pairs) const { return get(pairs, "opType").kind == Kind::kString; }

  Value get(std::span<const Value> pairs, std::string_view key) const {
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      if (pairs[i].kind == Kind::kString && out_.text(model::StrId{pairs[i].id}) == key) return pairs[i + 1];
    }
    return {};
  }

  std::int32_t number(std::span<const Value> pairs, std::string_view key) const {
    const auto n = int_or(get(pairs, key), out_, -1);
    return n >= 0 && n <= INT32_MAX ? static_cast<std::int32_t>(n) : -1;
  }

  std::int32_t step_of(std::span<const Value> op, std::string_view status) const {
    const auto v = get(op, status);
    if (v.is_container()) return number(stack_->items(v), "step");
    return number(op, status);
  }

  model::ProxyOp read_op(std::span<const Value> pairs) const {
    model::ProxyOp op;
    const auto info = stack_->items(get(pairs, "collInfo"));
    op.comm = as_string(get(info, "commHash"), *stack_, out_);
    op.op_count = int_or(get(info, "opCount"), out_, -1);
    op.channel = number(pairs, "channelId");
    op.peer = number(pairs, "remoteRank");
    op.steps = number(pairs, "nSteps");
    op.is_send = out_.text(as_string(get(pairs, "opType"), *stack_, out_)) == "SEND";
    op.posted = step_of(pairs, "POSTED");
    op.received = step_of(pairs, "RECEIVED");
    op.transmitted = step_of(pairs, "TRANSMITTED");
    op.done_steps = step_of(pairs, "DONE");
    op.done = as_bool(get(pairs, "done"), out_);
    return op;
  }

  model::Evidence& out_;
  std::vector<model::ProxyOp>& ops_;
  const ValueStack* stack_ = nullptr;
};

}  // namespace

std::vector<model::ProxyOp> read_comm_state(const Value& comms, const ValueStack& stack, model::Evidence& out) {
  std::vector<model::ProxyOp> ops;
  CommStateReader reader(out, ops);
  const auto by_comm = stack.items(comms);
  for (std::size_t c = 1; c < by_comm.size(); c += 2) {
    const auto fields = stack.items(by_comm[c]);
    for (std::size_t f = 0; f + 1 < fields.size(); f += 2) {
      const auto key = out.text(as_string(fields[f], stack, out));
      if (key != "PT_activeOps" && key != "PT_activeColls") continue;
      const auto& v = fields[f + 1];
      const std::string text(v.kind == Kind::kText     ? stack.long_text(v)
                             : v.kind == Kind::kString ? out.text(model::StrId{v.id})
                                                       : std::string_view());
      reader.read_text(text);
    }
  }
  return ops;
}

}  // namespace holter::formats::flight_recorder
