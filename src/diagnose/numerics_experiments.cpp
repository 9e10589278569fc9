// SPDX-License-Identifier: Apache-2.0
// What A/B runs say of numeric faults: which change of the software makes the symptom go away
// (rules/experiments.csv). An experiment is the strongest evidence that a description can hold.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

struct Knob {
  const char* cause;
  model::VerdictKind kind;
  model::Owner owner;
  const char* meaning;  // completes "with X the symptom is gone: ..."
  const char* action;
  const char* needed;   // pattern that must stand somewhere in the evidence; "" none
  const char* refuted;  // pattern that must not; "" none
};

constexpr Knob kKnobs[] = {
    {"comm_overlap_race", model::VerdictKind::kNumeric, model::Owner::kFramework,
     "communication and computation race for the same buffer when they overlap",
     "Turn the overlap off until the missing stream synchronisation is fixed (wait for the collective before "
     "its buffer is reused); report it with the A/B",
     "", ""},
    {"kv_scale_ignored", model::VerdictKind::kAccuracy, model::Owner::kFramework,
     "the scales of the quantised KV cache are not applied",
     "Use a 16-bit KV cache, or load a checkpoint with k_scale and v_scale and check that the engine applies "
     "them",
     "kv", R"((k|v|kv)_scales?\s*[=:]\s*(0\.\d|[2-9])|loaded.{0,24}\bscal)"},
    {"kernel_numerics", model::VerdictKind::kNumeric, model::Owner::kFramework,
     "the other kernel computes wrong values",
     "Use the kernel that is right, compare both against a float32 reference by layer and shape, and report "
     "the difference",
     "", ""},
    {"mask_overflow", model::VerdictKind::kNumeric, model::Owner::kUserCode, "masking or softmax overflows the format",
     "Compute scores and softmax in float32, mask with finfo(dtype).min or a boolean mask, and never add two "
     "large negative masks",
     "mask|softmax|padd", ""},
};

bool matches(const EvidenceView& view, std::string_view cause, const Experiment& e) {
  const auto& rules = view.context().rules;
  const auto table = rules.tables.find("experiments.csv");
  if (table == rules.tables.end()) return false;
  for (const auto& row : table->second.rows) {
    if (row.size() != 3 || row[0] != cause) continue;
    const bool wanted = row[1] == "any" || (row[1] == "good") == e.good;
    if (wanted && view.matches(e.condition, row[2])) return true;
  }
  return false;
}

void knob(const EvidenceView& view, const Knob& k, Output& out) {
  if ((*k.needed && !view.says(k.needed)) || (*k.refuted && view.says(k.refuted))) return;
  const Experiment* cured = nullptr;
  const Experiment* control = nullptr;  // the same kind of run, still bad: the A of the A/B
  for (const auto& e : view.experiments()) {
    if (e.good && !cured && matches(view, k.cause, e)) cured = &e;
    if (!e.good) control = &e;
  }
  if (!cured) return;
  const bool numeric = view.says(R"(\bnan\b|\binf\b|loss|grad|divergen|garbage|accuracy|wrong|gibberish|drift|!!!!)");
  if (!numeric) return;
  auto f =
      make_finding({k.cause, k.kind, k.owner, control ? 0.84 : 0.72},
                   fmt::format("With {} the symptom is gone: {}", base::ellipsize(cured->condition, 80), k.meaning));
  f.evidence.push_back(cured->citation);
  if (control) f.evidence.push_back(control->citation);
  append(f.evidence,
         view.lines("first (nan|inf|bad)|overlap|kv[-_]?cache[-_]?dtype|attn|mask", "settings and symptom", 3));
  add_named(f, model::CulpritKind::kConfig, control ? control->condition : cured->condition);
  add_action(f, k.action);
  if (!control) f.needs.push_back("turn the change back: the symptom must return");
  f.explains_causes = {"gpu_hw_sdc", "loss_divergence_config"};
  out.findings.push_back(std::move(f));
}

using Version = std::tuple<int, int, int>;
using Run = std::pair<Version, const Experiment*>;
struct VersionStep {
  const Experiment* good = nullptr;
  const Experiment* bad = nullptr;
};
// The first bad version that has a good one below it or above it, and the nearest good one on that side.
VersionStep version_step(std::vector<Run> runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
  const Run* last = nullptr;  // of the side looked for first
  for (const auto& run : runs) {
    if (run.second->good) last = &run;
    else if (last && last->first < run.first) return {last->second, run.second};
  }
  last = nullptr;  // fixed in a newer version
  for (const auto& run : runs) {
    if (!run.second->good) last = &run;
    else if (last && last->first < run.first) return {run.second, last->second};
  }
  return {};
}

// "0.9.1: good", "0.9.2: garbage": one of the versions brought it.
void version_regression(const EvidenceView& view, Output& out) {
  static const re2::RE2 version(R"((\d+)\.(\d+)(?:\.(\d+))?)");
  std::vector<std::pair<Version, const Experiment*>> runs;
  for (const auto& e : view.experiments()) {
    int a = 0, b = 0, c = 0;
    std::string patch;
    const auto condition = base::lower(e.condition);
    if (!re2::RE2::PartialMatch(condition, version, &a, &b, &patch)) continue;
    if (!re2::RE2::PartialMatch(condition,
                                "version|vllm|sglang|trt|torch|kernel|wheel|image|release|cutlass|marlin|"
                                "flashinfer|triton|^v?\\d+\\.|=v?\\d"))
      continue;
    // Operating system kernels are no kernels of the model.
    if (re2::RE2::PartialMatch(condition, "-generic|\\.el\\d|linux|uname|driver|firmware")) continue;
    c = base::to_int<int>(patch).value_or(0);
    const Version v{a, b, c};
    runs.emplace_back(v, &e);
  }
  // The step from the last good version to the first bad one; the bad one may be good under another condition.
  const auto step = version_step(std::move(runs));
  if (!step.good || !step.bad) return;
  const auto* best_good = step.good;
  const auto* first_bad = step.bad;
  const bool quantised = view.says("quanti|fp8|int4|int8|gptq|awq|marlin|w4a16|w8a8|nvfp4|mxfp4|bits");
  auto f = make_finding(
      {quantised ? "quant_kernel_regression" : "kernel_numerics", model::VerdictKind::kAccuracy,
       model::Owner::kFramework, 0.82},
      fmt::format("A {}regression between versions: {} is good, {} is not", quantised ? "quantised-kernel " : "",
                  base::ellipsize(best_good->condition, 60), base::ellipsize(first_bad->condition, 60)));
  f.evidence = {best_good->citation, first_bad->citation};
  append(f.evidence, view.lines("quantization|quant_method|kernel", "the quantised path in use", 2));
  add_named(f, model::CulpritKind::kSoftware, first_bad->condition);
  add_action(f,
             "Pin the last good version or select another kernel for this layer type; bisect between the two "
             "versions and report the layer and shape that differ");
  f.explains_causes = {"corrupt_weights", "kv_scale_ignored"};
  out.findings.push_back(std::move(f));
}

// Weights that do not match their checksums, or are cut.
void damaged_weights(const EvidenceView& view, Output& out) {
  auto lines = view.lines(
      R"((sha256|sha-256|md5|checksum|hash|crc)\w*.*(mismatch|differs?\b|MISMATCH|FAILED|not match|bad)|(shard|safetensors|weights?|checkpoint).*(truncated|corrupt|incomplete|size mismatch|mismatch|all zeros?|missing (keys|tensors|shard))|HeaderTooLarge|MetadataIncompleteBuffer|incomplete metadata)",
      "the file is not what it should be", 3);
  std::erase_if(lines, [](const auto& c) { return base::contains_ignore_case(c.text, "no mismatch"); });
  if (lines.empty() || view.says("trainer.*(hash|checksum)|rollout.*(hash|checksum)")) return;
  auto f = make_finding({"corrupt_weights", model::VerdictKind::kAccuracy, model::Owner::kStorage, 0.78},
                        "The weights are damaged or incomplete: " + base::ellipsize(lines[0].text, 120));
  f.evidence = std::move(lines);
  add_named(f, model::CulpritKind::kConfig, "weights file");
  add_action(f, "Fetch the damaged shard again and verify checksums before loading", "sha256sum *.safetensors");
  f.explains_causes = {"quant_kernel_regression", "kernel_numerics"};
  out.findings.push_back(std::move(f));
}

// The loss of all replicas moves together after a change of the configuration.
void divergence(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int loss = t.column("loss"), step = t.column("step"), lr = t.column("lr"), grad = t.column("grad_norm");
    if (loss < 0 || step < 0 || t.rows() < 6 || (lr < 0 && grad < 0) || t.column("first_nan_rank") >= 0) continue;
    const auto values = t.numbers(loss);
    std::size_t lowest = 0;
    for (std::size_t r = 1; r < values.size(); ++r) {
      if (std::isfinite(values[r]) && values[r] < values[lowest]) lowest = r;
    }
    const double last = values.back();
    if (std::isfinite(last) && last < 1.4 * values[lowest]) continue;
    std::size_t rise = lowest;
    while (rise + 1 < values.size() && !(values[rise] > 1.15 * values[lowest] || !std::isfinite(values[rise]))) ++rise;
    const bool grew =
        grad >= 0 && rise > 0 && t.number(rise, grad).value_or(0) > 3 * t.number(lowest, grad).value_or(1e300);
    auto f = make_finding(
        {"loss_divergence_config", model::VerdictKind::kNumeric, model::Owner::kUserCode, grew ? 0.66 : 0.55},
        fmt::format("The loss diverges from step {} (lowest {:.4g}, then {:.4g}){}{}", t.text(rise, step),
                    values[lowest], last, grew ? ", with the gradient norm growing first" : "",
                    lr >= 0 ? fmt::format("; learning rate {}", t.text(rise, lr)) : ""));
    f.evidence = {view.cite(t, lowest, "before"), view.cite(t, rise, "the rise"),
                  view.cite(t, t.rows() - 1, "the end")};
    add_named(f, model::CulpritKind::kConfig, "learning rate, warm-up, clipping or data");
    add_action(f,
               "Resume from a checkpoint before the rise with a lower learning rate or longer warm-up and "
               "gradient clipping; skip the batches of the rise once to tell data from configuration");
    out.findings.push_back(std::move(f));
  }
}

}  // namespace

void diagnose_numeric_experiments(const EvidenceView& view, Output& out) {
  for (const auto& k : kKnobs) knob(view, k, out);
  version_regression(view, out);
  damaged_weights(view, out);
  divergence(view, out);
}

}  // namespace holter::diagnose
