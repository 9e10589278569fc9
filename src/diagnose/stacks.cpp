// SPDX-License-Identifier: Apache-2.0
#include "diagnose/stacks.h"

#include <algorithm>

#include <fmt/format.h>

#include "diagnose/places.h"
#include "diagnose/stack_view.h"
#include "hang/stack_forest.h"

namespace holter::diagnose {

namespace {

// All ranks with a stack do the same: nobody is odd, and that is worth saying.
void rule_out(const Context& context, const StackView& view, Output& out) {
  if (view.main_of.size() < 2 || !view.elsewhere.empty() || !view.on_device.empty()) return;
  const auto first = view.main_of.begin()->second;
  const auto call = matched_function(context, view, first, view.meanings[first].collective);
  for (const auto& [rank, i] : view.main_of) {
    if (matched_function(context, view, i, view.meanings[i].collective) != call) return;
  }
  model::RuledOut r;
  r.cause = "host_stuck";
  r.why = fmt::format("the main threads of all {} ranks with a stack wait in {}", view.main_of.size(), call);
  if (const auto missing = context.job.missing(); !missing.empty())
    r.why += fmt::format("; no stack of {}", who(context, missing));
  r.evidence.push_back(cite_stack(context, view, first, "one of these stacks"));
  out.ruled_out.push_back(std::move(r));
}

}  // namespace

model::StackForest diagnose_stacks(const Context& context, Output& out) {
  const auto view = view_stacks(context);
  out.waiting = view.waiting();
  if (view.threads.empty()) return {};
  const auto before = out.findings.size();
  diagnose_gil(context, view, out);
  diagnose_odd_ranks(context, view, out);
  diagnose_stack_divergence(context, view, out);
  diagnose_teardown_after_oom(context, view, out);
  rule_out(context, view, out);
  model::RankSet minority;
  double best = 0;
  for (std::size_t i = before; i < out.findings.size(); ++i) {
    if (out.findings[i].confidence > best) best = out.findings[i].confidence, minority = out.findings[i].ranks;
  }
  return hang::to_report(context.evidence, hang::build_forest(context.evidence, view.threads), minority);
}

}  // namespace holter::diagnose
