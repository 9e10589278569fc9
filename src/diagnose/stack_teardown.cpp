// SPDX-License-Identifier: Apache-2.0
// A rank that ran out of GPU memory and then hangs in the teardown of its groups: the others wait for a
// rank that will not come back, often without any watchdog line, and the job looks as if it were running.
#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/log_failures.h"
#include "diagnose/places.h"
#include "diagnose/stack_view.h"

namespace holter::diagnose {

namespace {

// The first out-of-memory line of each rank.
std::map<std::int32_t, const model::Event*> out_of_memory(const Context& context) {
  std::map<std::int32_t, const model::Event*> found;
  for (const auto& e : context.evidence.events) {
    if (value(e.rank) >= 0 && context.text(e.kind).starts_with("memory.gpu_oom")) found.emplace(value(e.rank), &e);
  }
  return found;
}

}  // namespace

void diagnose_teardown_after_oom(const Context& context, const StackView& view, Output& out) {
  const auto ooms = out_of_memory(context);
  for (const auto& [rank, thread] : view.main_of) {
    const auto oom = ooms.find(rank);
    const auto& reason = view.meanings[thread].reason;
    if (oom == ooms.end() || !reason || reason.rule->id != "teardown.destroy") continue;
    auto f = finding_of(context, "teardown_after_oom");
    f.confidence = 0.85;
    f.depth = model::Depth::kReason;
    f.local = true;
    f.first_ns = comparable_ns(*oom->second);
    f.ranks.insert(rank);
    f.culprits = rank_culprits(context, f.ranks);
    f.title = fmt::format("{} ran out of GPU memory and now hangs in its teardown at {}: {}", who(context, f.ranks),
                          place(context, view, thread), base::ellipsize(context.text(oom->second->text), 140));
    f.evidence.push_back(cite(context, *oom->second, "the first failure of this rank"));
    f.evidence.push_back(cite_stack(context, view, thread, "it tears its groups down and does not get out"));
    f.explains_causes = {"teardown_order",   "gpu_oom_config", "fragmentation",   "rank_crashed",
                         "host_stuck",       "straggler",      "data_path_stall", "rank_divergent_control_flow",
                         "barrier_long_prep"};
    out.findings.push_back(std::move(f));
  }
}

}  // namespace holter::diagnose
