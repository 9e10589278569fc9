// SPDX-License-Identifier: Apache-2.0
// Reinforcement learning: trainer against rollout engine. Weights that never arrive, log-probabilities
// that mean different things, a numeric gap, rollouts of an old policy, long tails, a stuck tool.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "analytics/stats.h"
#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

using analytics::TableView;

std::size_t distinct(const TableView& t, int column) {
  std::set<std::string_view> values;
  for (std::size_t r = 0; r < t.rows(); ++r) values.insert(t.text(r, column));
  return values.size();
}

void not_synced(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int trainer = t.column("trainer_hash"), rollout = t.column("rollout_hash");
    if (trainer < 0 || rollout < 0 || trainer == rollout || t.rows() < 2) continue;
    const auto a = distinct(t, trainer), b = distinct(t, rollout);
    if (a < 2 || b > 1) continue;
    auto f = make_finding(
        {"weights_not_synced", model::VerdictKind::kAccuracy, model::Owner::kFramework, 0.9},
        fmt::format("The rollout engine keeps its old weights: {} stays {} over {} rows while {} changes {} times",
                    t.name(rollout), t.text(0, rollout), t.rows(), t.name(trainer), a - 1));
    f.evidence = {view.cite(t, 0, "equal or first state"),
                  view.cite(t, t.rows() - 1, "the trainer moved on, the engine did not")};
    append(f.evidence, view.lines("update_weights|load_weights|sync.*weights|weight.*(sync|update)|sleep.*(level|mode)",
                                  "the weight update as logged", 3));
    add_named(f, model::CulpritKind::kSoftware, "weight synchronisation from trainer to rollout engine");
    add_action(f,
               "Fix the weight update (names, tied or fused parameters, sleep and wake, cached graphs) and "
               "compare checksums of trainer and engine after every update; discard the updates since the "
               "last equal checksum");
    f.explains_causes = {"train_infer_gap", "stale_policy", "logprob_definition"};
    out.findings.push_back(std::move(f));
  }
}

// What both sides compute: temperature, top-p, template, masking or averaging named on one side only.
std::vector<model::Citation> definition_lines(const EvidenceView& view) {
  return view.lines(
      R"((temperature|top_p|top_k|logits_processor|processed_logprobs|raw_logprobs|logprobs_mode|chat_template|length.?norm|label.?shift|prompt tokens included|special tokens|penalty))",
      "how log-probabilities are computed", 4);
}

bool temperature_differs(const EvidenceView& view) {
  std::set<double> values;
  for (const auto* f : view.settings("temperature")) {
    if (f->has_number) values.insert(f->number);
  }
  // One side with a temperature other than 1 and no word of it on the other is enough to differ.
  return values.size() > 1;
}

void logprobs(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int a = t.column("trainer_logprob"), b = t.column("rollout_logprob");
    int diff = t.column("logprob_diff");
    if (diff < 0) diff = t.column("kl");
    const int ratio = t.column("ratio");
    if ((a < 0 || b < 0) && diff < 0 && ratio < 0) continue;
    std::vector<double> gaps;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      double g = std::nan("");
      if (a >= 0 && b >= 0) g = t.number(r, a).value_or(g) - t.number(r, b).value_or(g);
      else if (diff >= 0) g = t.number(r, diff).value_or(g);
      else g = std::log(std::max(1e-12, t.number(r, ratio).value_or(g)));
      if (std::isfinite(g)) gaps.push_back(g);
    }
    if (gaps.size() < 2) continue;
    const double middle = analytics::median(gaps);
    std::vector<double> sizes;
    for (const double g : gaps) sizes.push_back(std::abs(g));
    const double size = analytics::median(sizes);
    if (size < 0.01) continue;
    auto lines = definition_lines(view);
    const bool definition = temperature_differs(view) || view.says(
                                                             "logprobs_mode|raw_logprobs|without temperature|before "
                                                             "temperature|not scaled by temperature|top_p applied");
    const bool from_start = std::abs(gaps.front()) > 0.5 * size;
    const bool precision =
        view.says("fp8|quanti|int8|bf16|bfloat16|tensor parallel|batch.?invarian|different kernel|fp32 (lm )?head");
    if (!definition && !precision) continue;
    const auto cause = definition ? "logprob_definition" : "train_infer_gap";
    auto f = make_finding(
        {cause, model::VerdictKind::kAccuracy, model::Owner::kFramework, definition && from_start ? 0.78 : 0.66},
        fmt::format("Trainer and rollout log-probabilities differ by {:.3g} on the median token{}: {}",
                    definition ? middle : size, from_start ? ", from the first step" : "",
                    definition ? "the two sides compute different quantities"
                               : "the numeric paths of trainer and engine differ"));
    f.evidence.push_back(view.cite(t, 0, "the gap at the start"));
    f.evidence.push_back(view.cite(t, t.rows() - 1, "the gap at the end"));
    append(f.evidence, std::move(lines));
    append(f.evidence, view.lines("fp8|quanti|bf16|bfloat16|fp32", "the numeric formats in use", 2));
    for (const auto& e : view.experiments()) {
      if (e.good && f.evidence.size() < 7)
        f.evidence.push_back(e.citation), f.confidence = std::min(0.86, f.confidence + 0.1);
    }
    add_named(f, model::CulpritKind::kConfig,
              definition ? "log-probability definition (temperature, top-p, masking)"
                         : "numeric formats of trainer and rollout engine");
    add_action(f, definition ? "Compute both log-probabilities from the same logits: same temperature and "
                               "truncation, same mask and template; check one prompt token by token"
                             : "Use the same precision on both sides (bf16 or fp32 head), correct with "
                               "truncated importance sampling, and watch the gap as a metric");
    out.findings.push_back(std::move(f));
    return;
  }
}

void staleness(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int now = t.column("policy_version"), used = t.column("rollout_version"), lag = t.column("staleness");
    std::vector<double> gaps;
    if (now >= 0 && used >= 0 && now != used) {
      const auto a = t.numbers(now), b = t.numbers(used);
      for (std::size_t r = 0; r < a.size(); ++r) gaps.push_back(a[r] - b[r]);
    } else if (lag >= 0 && t.column("rank") < 0 && t.column("step") >= 0) {
      gaps = t.numbers(lag);
    } else {
      continue;
    }
    if (gaps.size() < 3 || !(gaps.back() > gaps.front() + 2) || !(gaps.back() >= 4)) continue;
    auto f =
        make_finding({"stale_policy", model::VerdictKind::kAccuracy, model::Owner::kFramework, 0.76},
                     fmt::format("Rollouts come from an ever older policy: the version gap grew from {:.0f} to {:.0f}",
                                 gaps.front(), gaps.back()));
    f.evidence = {view.cite(t, 0, "the gap at the start"), view.cite(t, t.rows() - 1, "the gap at the end")};
    add_named(f, model::CulpritKind::kConfig, "asynchronous rollout queue");
    add_action(f,
               "Bound the staleness (drop or wait at a maximum version gap), add rollout capacity or slow "
               "the trainer");
    out.findings.push_back(std::move(f));
  }
}

void long_tail(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int length = t.column("output_tokens");
    const int time = t.column("gen_time");
    if (length < 0 || time < 0 || t.rows() < 8) continue;
    const auto times = t.numbers(time);
    const double p50 = analytics::median(times), p90 = analytics::quantile(times, 0.9),
                 top = analytics::quantile(times, 1);
    if (!(top > 4 * p50 && p90 < 0.6 * top)) continue;
    const auto worst = static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin());
    auto f = make_finding({"rollout_long_tail", model::VerdictKind::kSlow, model::Owner::kUserCode, 0.74},
                          fmt::format("Few long rollouts hold the step: the longest takes {:.4g} against a "
                                      "median of {:.4g} ({} tokens)",
                                      top, p50, t.text(worst, length)));
    f.evidence = {view.cite(t, worst, "the longest rollout"), view.cite(t, 0, "another one")};
    add_named(f, model::CulpritKind::kConfig, "rollout length limit and batching");
    add_action(f,
               "Cap the response length, over-sample and cut the tail, or carry partial rollouts into the "
               "next step");
    out.findings.push_back(std::move(f));
  }
}

}  // namespace

void diagnose_rollout(const EvidenceView& view, Output& out) {
  not_synced(view, out);
  logprobs(view, out);
  staleness(view, out);
  long_tail(view, out);
}

}  // namespace holter::diagnose
