// SPDX-License-Identifier: Apache-2.0
// Layer statistics: the first layer with inf or NaN, the range of the format, and whether another dtype
// is clean.
#include <cmath>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

constexpr double kFp16Max = 65504, kE4m3Max = 448;

using analytics::TableView;

bool is_bad(const TableView& t, std::size_t row, int column) {
  const auto n = t.number(row, column);
  if (!n) return false;
  return !std::isfinite(*n);
}

// The first row whose values are not finite (in any magnitude column) or that counts inf or NaN.
int first_bad(const TableView& t) {
  const int inf = t.column("inf"), nan = t.column("nan");
  for (std::size_t r = 0; r < t.rows(); ++r) {
    for (const int c : t.columns("absmax")) {
      if (is_bad(t, r, c)) return static_cast<int>(r);
    }
    if (inf >= 0 && t.number(r, inf).value_or(0) > 0) return static_cast<int>(r);
    if (nan >= 0 && t.number(r, nan).value_or(0) > 0) return static_cast<int>(r);
  }
  return -1;
}

// Another dtype's magnitude in the same row, finite and beyond fp16.
double clean_value(const TableView& t, std::size_t row) {
  double best = 0;
  for (const int c : t.columns("absmax")) {
    const auto n = t.number(row, c);
    if (n && std::isfinite(*n)) best = std::max(best, std::abs(*n));
  }
  return best;
}

bool uses_fp16(const EvidenceView& view, const TableView& t) {
  for (const auto* f : view.settings("dtype|precision|fp16|half")) {
    const auto v = base::lower(view.text(f->value));
    if (v == "float16" || v == "fp16" || v == "half" || v == "torch.float16") return true;
  }
  for (const int c : t.columns("absmax")) {
    if (base::contains_ignore_case(t.name(c), "fp16") || base::contains_ignore_case(t.name(c), "float16")) return true;
  }
  return false;
}

const Experiment* good_with(const EvidenceView& view, const char* pattern) {
  for (const auto& e : view.experiments()) {
    if (e.good && view.matches(e.condition, pattern)) return &e;
  }
  return nullptr;
}

std::string layer_name(const TableView& t, std::size_t row) {
  const int layer = t.column("layer");
  const auto text = layer < 0 ? std::to_string(row) : std::string(t.text(row, layer));
  return base::to_int<int>(text) ? "layer " + text : text;
}

void overflow(const EvidenceView& view, const TableView& t, std::size_t row, Output& out) {
  const auto* ab = good_with(view, "bf16|bfloat16|fp32|float32");
  const double clean = clean_value(t, row);
  const bool fp16 = uses_fp16(view, t);
  if (!fp16 && !ab) return;
  const bool mask = view.says("attention_mask|finfo|masked_fill|padding|left.?pad|-1e9|softmax") &&
                    !view.says("quantiz|gptq|awq|int4|int8|fp8");
  const double confidence = ab && clean > kFp16Max ? 0.93 : ab || clean > kFp16Max ? 0.82 : 0.6;
  auto f = make_finding(
      {mask ? "mask_overflow" : "quant_fp16_overflow",
       mask ? model::VerdictKind::kNumeric : model::VerdictKind::kAccuracy, model::Owner::kUserCode, confidence},
      "");
  f.title = fmt::format(
      "float16 overflow: {} is the first with inf{}{}", layer_name(t, row),
      clean > kFp16Max ? fmt::format(" (bfloat16 reaches {:.0f}, the float16 maximum is 65504)", clean) : "",
      ab ? fmt::format("; {} is clean", base::ellipsize(ab->condition, 60)) : "");
  f.evidence.push_back(view.cite(t, row, "the first values that are not finite"));
  if (row > 0) f.evidence.push_back(view.cite(t, row - 1, "the layer before is finite and near the limit"));
  if (ab) f.evidence.push_back(ab->citation);
  for (const auto* d : view.settings("dtype|precision")) f.evidence.push_back(view.cite(*d, "the configured dtype"));
  append(f.evidence, view.lines("sha256.*OK|checksum.*(ok|match)", "the weights are whole", 1));
  add_named(f, model::CulpritKind::kConfig, "dtype float16, " + layer_name(t, row));
  add_action(f, "Serve or train in bfloat16 (bf16), or clamp the residual stream before that layer",
             "--dtype bfloat16");
  f.explains_causes = {"corrupt_weights", "kernel_numerics", "quant_kernel_regression", "kv_scale_ignored"};
  out.findings.push_back(std::move(f));
}

// Magnitudes of keys or values beyond the fp8 range.
void kv_range(const EvidenceView& view, const TableView& t, Output& out) {
  int worst_column = -1;
  std::size_t worst_row = 0;
  double worst = 0;
  for (int c = 0; c < static_cast<int>(t.table().columns.size()); ++c) {
    if (!re2::RE2::PartialMatch(std::string(t.name(c)),
                                R"((?i)^(k|v|kv|key|value)s?[_ .]?(cache)?[_ .]?(abs_?max|max|amax))"))
      continue;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      const auto n = t.number(r, c);
      if (!n || !std::isfinite(*n)) continue;
      if (*n > worst) worst = *n, worst_row = r, worst_column = c;
    }
  }
  if (worst_column < 0 || worst <= kE4m3Max) return;
  const bool fp8 = view.says("kv[-_ ]?cache[-_ ]?dtype.{0,6}(fp8|e4m3)|fp8.{0,12}kv|kv.{0,12}fp8");
  if (!fp8) return;
  const bool unscaled = view.says(
      R"(scal(e|ing).{0,24}(1\.0|not (found|loaded|used)|missing|default|ignored|absent)|without (k|v|kv)[-_ ]?scal)");
  auto f = make_finding({unscaled ? "kv_scale_ignored" : "kv_outlier", model::VerdictKind::kAccuracy,
                         unscaled ? model::Owner::kFramework : model::Owner::kUserCode, unscaled ? 0.84 : 0.74},
                        fmt::format("fp8 KV cache {}: {} reaches {:.0f} in {}, e4m3 ends at 448",
                                    unscaled ? "without its scales" : "saturates on outliers", t.name(worst_column),
                                    worst, layer_name(t, worst_row)));
  f.evidence = {view.cite(t, worst_row, "beyond the range of the format")};
  append(f.evidence,
         view.lines("kv[-_ ]?cache[-_ ]?dtype|k_scale|v_scale|scaling factor", "KV cache settings and scales", 3));
  if (const auto* ab = good_with(view, "kv[-_ ]?cache[-_ ]?dtype\\W*(auto|bf16|bfloat16|fp16|half)")) {
    f.evidence.push_back(ab->citation);
    f.confidence += 0.1;
  }
  add_named(f, model::CulpritKind::kConfig, "fp8 KV cache, " + layer_name(t, worst_row));
  add_action(f,
             unscaled ? "Load or calibrate the KV scales (a checkpoint with k_scale and v_scale), or use a "
                        "16-bit KV cache"
                      : "Keep the outlier layers in 16 bits or use finer (per-head) scales",
             "--kv-cache-dtype auto");
  out.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_layer_overflow(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    if (t.column("layer") < 0 && t.column("size") < 0) continue;
    const int row = first_bad(t);
    if (row >= 0 && (t.column("absmax") >= 0 || t.column("inf") >= 0))
      overflow(view, t, static_cast<std::size_t>(row), out);
    kv_range(view, t, out);
  }
}

}  // namespace holter::diagnose
