// SPDX-License-Identifier: Apache-2.0
#include "diagnose/divergence.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/places.h"

namespace holter::diagnose {

namespace {

using hang::DivergenceKind;
using hang::Shift;

bool any_of(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const auto w : words) {
    if (base::contains_ignore_case(text, w)) return true;
  }
  return false;
}

struct Story {
  const Context& context;
  const hang::CallState& calls;
  const hang::Divergence& d;
  std::string minority_frames, majority_frames;
  std::string minority_place, majority_place;
  const model::FrEntry* previous = nullptr;  // the last call that both sides made

  Story(const Context& c, const hang::CallState& s, const hang::Divergence& divergence)
      : context(c),
        calls(s),
        d(divergence),
        minority_frames(frames_text(c, divergence.minority_call.frames)),
        majority_frames(frames_text(c, divergence.majority_call.frames)),
        minority_place(user_place(c, divergence.minority_call.frames)),
        majority_place(user_place(c, divergence.majority_call.frames)),
        previous(previous_call()) {}

  const model::FrEntry* previous_call() const {
    for (std::size_t i = 0; i < context.evidence.entries.size(); ++i) {
      const auto& e = context.evidence.entries[i];
      if (calls.entry_group[i] == d.group && calls.entry_rank[i] == d.minority_call.rank &&
          e.collective_seq == d.seq - 1 && !e.is_p2p) {
        return &e;
      }
    }
    return nullptr;
  }
  std::string previous_op() const { return previous ? std::string(context.text(previous->op)) : ""; }
  // Its result exists on one rank only, so a decision based on it differs between ranks.
  bool after_rooted() const {
    const auto key = hang::op_key(previous_op());
    return key == "reduce" || key == "gather";
  }
  bool other_place() const { return !minority_place.empty() && minority_place != majority_place; }

  std::string cause() const {
    const std::string both = minority_frames + " " + majority_frames;
    if (any_of(both, {"generate", "sample_sequence"}) && any_of(both, {"fetch", "partition", "zero", "deepspeed"}))
      return "zero3_generate";
    if (any_of(both, {"expert", "moe"}) && any_of(both, {"fetch", "partition", "all_gather_params", "zero"}))
      return "moe_zero3_order";
    if (d.shift == Shift::kSwapped) return "collective_order_mismatch";
    const bool only_rank0 = d.minority == model::RankSet{0};
    const bool saving = any_of(minority_frames, {"save", "checkpoint", "log_metrics", "wandb", "export", "print"});
    if (only_rank0 && saving && !after_rooted()) return "rank0_only_collective";
    const bool ended = any_of(minority_frames, {"valid", "eval", "test_epoch", "on_train_end"});
    if (ended && !any_of(majority_frames, {"valid", "eval"})) return "uneven_inputs";
    if (d.kind == DivergenceKind::kOtherCall || other_place()) return "rank_divergent_control_flow";
    if (d.shift == Shift::kSkipped || d.shift == Shift::kExtra) return "rank_divergent_control_flow";
    return "collective_shape_mismatch";
  }
};

std::string size_of(const Context& context, const hang::Call& c) {
  if (c.shape != model::ShapeId::kNone) {
    const auto& s = context.evidence.shapes[static_cast<std::uint32_t>(c.shape)];
    return fmt::format("{} {}", context.text(s.input_sizes), context.text(s.input_dtypes));
  }
  return fmt::format("{} elements", c.numel_in);
}

std::string title(const Story& s) {
  const auto& d = s.d;
  const auto& group = s.calls.groups[d.group];
  const auto minor = who(s.context, d.minority);
  const auto major = who(s.context, d.majority);
  const auto at = [](const std::string& place) { return place.empty() ? std::string() : " in " + place; };
  std::string out;
  if (d.tie) {
    out = fmt::format(
        "call #{} of {} is not the same on all ranks and no side has the majority: {} ({}) against {} ({})", d.seq,
        group.label(), s.context.text(d.minority_call.op), minor, s.context.text(d.majority_call.op), major);
  } else if (d.kind == DivergenceKind::kOtherCall) {
    out = fmt::format("{} issued {}{} as call #{} of {} where {} issued {}{}", minor,
                      s.context.text(d.minority_call.op), at(s.minority_place), d.seq, group.label(), major,
                      s.context.text(d.majority_call.op), at(s.majority_place));
  } else {
    out = fmt::format("{} issued {} #{} of {} with {}{} where {} used {}{}", minor, s.context.text(d.minority_call.op),
                      d.seq, group.label(), size_of(s.context, d.minority_call), at(s.minority_place), major,
                      size_of(s.context, d.majority_call), at(s.majority_place));
  }
  if (d.shift == Shift::kSkipped) out += "; it left out a call";
  if (d.shift == Shift::kExtra) out += "; it made a call that the others did not";
  if (d.shift == Shift::kSwapped) out += "; the same calls in another order";
  if (s.after_rooted()) out += fmt::format("; they parted after a {}, whose result only its root has", s.previous_op());
  return out;
}

void add_actions(const Story& s, model::Finding& f) {
  const auto action = [&](std::string text) { f.actions.push_back({std::move(text), "", model::Risk::kNone}); };
  const std::string place = s.minority_place.empty() ? "the code of " + who(s.context, s.d.minority) : s.minority_place;
  if (s.after_rooted()) {
    action(fmt::format(
        "Decide on a value that every rank has: use all_{0} (or broadcast the result) instead of {0} before the branch that leads to {1}",
        s.previous_op(), place));
  } else if (f.cause == "uneven_inputs") {
    action("Equalise the batches per rank (drop_last, repeat to the minimum, or Join); this is not a timeout problem");
  } else if (f.cause == "rank0_only_collective") {
    action("Call " + place +
           " on every rank: it contains a collective; keep only the file write inside the rank-0 branch");
  } else if (f.cause == "moe_zero3_order" || f.cause == "zero3_generate") {
    action(
        "Make every rank run the same modules in the same order (visit all experts, synced_gpus in generate), or exclude them from parameter sharding");
  } else if (f.cause == "collective_shape_mismatch") {
    action("Make sizes and dtypes of " + place + " equal on all ranks (padding, drop_last, same configuration)");
  } else {
    action("Make every rank take the same branch around " + place +
           ": all ranks of a group must issue the same collectives in one order");
  }
  f.actions.push_back({"Confirm with TORCH_DISTRIBUTED_DEBUG=DETAIL on a short run", "", model::Risk::kNone});
}

}  // namespace

model::Finding explain_divergence(const Context& context, const hang::CallState& calls, const hang::Divergence& d) {
  const Story story(context, calls, d);
  model::Finding f;
  f.cause = story.cause();
  f.confidence = d.tie ? 0.55 : 0.85;
  f.kind = model::VerdictKind::kHang;
  f.depth = model::Depth::kReason;
  f.owner = model::Owner::kUserCode;
  f.restart = model::Restart::kNo;
  f.title = title(story);
  f.local = true;
  f.explains_causes = {"data_path_stall", "host_stuck", "device_kernel_stuck"};
  if (!d.tie) {
    f.ranks = d.minority;
    f.culprits = rank_culprits(context, d.minority);
  }
  const auto place = story.minority_place.empty() ? calls.groups[d.group].label() : story.minority_place;
  f.culprits.push_back({.kind = model::CulpritKind::kSoftware, .name = place});
  f.evidence.push_back(cite_call(context, calls, d.minority_call, "the call of the minority"));
  f.evidence.push_back(
      cite_call(context, calls, d.majority_call,
                fmt::format("the call of {} at the same sequence number {}", who(context, d.majority), d.seq)));
  if (story.previous) {
    f.evidence.push_back(cite(context, d.minority_call.at,
                              fmt::format("#{} {} matched on all ranks", d.seq - 1, story.previous_op()),
                              "the last common call"));
  }
  add_actions(story, f);
  if (d.tie) f.needs.push_back("dumps of the remaining ranks of " + calls.groups[d.group].label());
  if (story.minority_place.empty())
    f.needs.push_back(
        "stack traces in the dump (TORCH_INCLUDE_STACK_TRACE=1) or a py-spy dump: which line made the call");
  return f;
}

}  // namespace holter::diagnose
