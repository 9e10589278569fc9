// SPDX-License-Identifier: Apache-2.0
// Where the first NaN stands and what moves with it: one rank at every run that follows the node is
// hardware; one that stays after a swap is not (facts: incidents 3.20 and 4.12).
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

bool is_swap(const std::string& condition) {
  static const re2::RE2 words(
      R"((?i)swap|replac|\bmoved?\b|exclud|spare|->|without (node|host)|other (node|host|board|gpu)|different (node|host|board|gpu)|new (board|gpu|node))");
  return re2::RE2::PartialMatch(condition, words);
}
bool is_unchanged(const std::string& condition) {
  static const re2::RE2 words(R"((?i)=\s*(none|-|no|baseline|original|as is|same)?$|\bback\b|original)");
  return re2::RE2::PartialMatch(condition, words);
}

// A change of the software, not an observation ("hash identical on all nodes").
bool is_option(const std::string& condition) {
  static const re2::RE2 words(R"((?i)=|\b(off|disabled?|without|revert(ed)?|older|downgraded?|eager|removed)\b)");
  return re2::RE2::PartialMatch(condition, words);
}

// The rank that fails first, by a table of runs or by NaN check lines.
struct Bad {
  int rank = -1;
  std::size_t times = 0;
  bool same_each_time = true;
  std::vector<model::Citation> citations;
};

Bad bad_rank(const EvidenceView& view) {
  Bad bad;
  std::map<int, std::size_t> count;
  for (const auto& t : view.tables()) {
    const int column = t.column("first_nan_rank");
    if (column < 0) continue;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      const auto rank = t.number(r, column);
      if (!rank) continue;
      ++count[static_cast<int>(*rank)];
      if (bad.citations.size() < 2) bad.citations.push_back(view.cite(t, r, "the first NaN of this run"));
    }
  }
  static const re2::RE2 check(
      R"((?i)nan(?:/inf)? (?:check failed|detected|found).*?rank:? ?(\d+)|rank:? ?(\d+)\D{0,30}(?:nan (?:check|detected|found)|first nan))");
  for (auto& c : view.lines(R"(NaN (check failed|detected|found)|first NaN)", "the check found NaN on this rank", 8)) {
    std::string a, b;
    if (!re2::RE2::PartialMatch(c.text, check, &a, &b)) continue;
    ++count[base::to_int<int>(a.empty() ? b : a).value_or(-1)];
    bad.citations.push_back(std::move(c));
  }
  count.erase(-1);
  for (const auto& [rank, times] : count) {
    if (times > bad.times) bad.rank = rank, bad.times = times;
  }
  bad.same_each_time = count.size() == 1;
  return bad;
}

struct Swaps {
  std::vector<const Experiment*> cured, persisted, returned;
};

Swaps swaps_of(const EvidenceView& view) {
  Swaps s;
  for (const auto& e : view.experiments()) {
    if (is_unchanged(e.condition) && !e.good) s.returned.push_back(&e);
    else if (is_swap(e.condition)) (e.good ? s.cured : s.persisted).push_back(&e);
  }
  return s;
}

struct Device {
  std::string node, gpu, index;
};

Device device_of(const EvidenceView& view, int rank) {
  Device d;
  const auto& nodes = view.context().job.node_of;
  if (const auto at = nodes.find(rank); at != nodes.end()) d.node = at->second;
  for (const auto* f : view.facts("rank.gpu")) {
    if (value(f->rank) != rank) continue;
    d.index = view.value(*f);
    d.gpu = std::string(view.text(f->subject));
    if (d.node.empty()) d.node = view.node(*f);
  }
  return d;
}

void hardware(const EvidenceView& view, const Bad& bad, const Swaps& swaps, Output& out) {
  const auto device = device_of(view, bad.rank);
  std::vector<model::Citation> checks;
  for (const auto* f : view.under("dcgm.")) {
    if (base::lower(view.text(f->value)).starts_with("fail") && checks.size() < 2)
      checks.push_back(view.cite(*f, "a diagnostic fails on this GPU"));
  }
  append(checks, view.lines(R"(Xid \(PCI:[^)]*\): (13|48|63|64|92|94|95|140)\b)", "the kernel log of the node", 2));
  const double confidence = !swaps.cured.empty() ? (checks.empty() ? 0.85 : 0.93) : checks.empty() ? 0.5 : 0.72;
  auto f = make_finding({"gpu_hw_sdc", model::VerdictKind::kNumeric, model::Owner::kPlatform, confidence}, "");
  const std::string where = fmt::format("{}{}{}", device.node, device.index.empty() ? "" : " GPU " + device.index,
                                        device.gpu.empty() ? "" : " (" + device.gpu + ")");
  f.title = fmt::format("Rank {}{} produces the first NaN in every run{}{}: this GPU computes wrong values", bad.rank,
                        where.empty() ? "" : " on " + where,
                        swaps.cured.empty() ? "" : ", and the NaN is gone when the node is swapped out",
                        checks.empty() ? "" : "; diagnostics or Xid of the device agree");
  f.severity = model::Severity::kReplace;
  f.evidence = bad.citations;
  for (const auto* e : swaps.cured) f.evidence.insert(f.evidence.begin(), e->citation);
  for (const auto* e : swaps.returned) {
    if (f.evidence.size() < 6) f.evidence.push_back(e->citation);
  }
  append(f.evidence, checks);
  add_rank(f, view.context(), bad.rank);
  f.culprits.back().node = device.node;
  if (!device.node.empty()) add_node(f, device.node, device.gpu.empty() ? device.index : device.gpu);
  if (!device.node.empty()) f.exclude_nodes.push_back(device.node);
  add_action(f,
             fmt::format("Drain {}, reset and diagnose {}; resume from the last checkpoint before the first "
                         "NaN on other nodes",
                         device.node.empty() ? "the node" : device.node,
                         device.index.empty() ? "the GPU" : "GPU " + device.index),
             "dcgmi diag -r 4; nvidia-smi -q -d ECC,ROW_REMAPPER");
  if (swaps.cured.empty())
    f.needs.push_back("run once with this node swapped out: does the NaN follow the node or stay with the rank?");
  f.explains_causes = {"app_kernel_fault", "rank_crashed",      "unknown",
                       "kernel_numerics",  "comm_overlap_race", "mask_overflow"};
  append(f.evidence,
         view.lines("hash identical|checksum.*(identical|match)", "the weights are the same everywhere", 1));
  out.findings.push_back(std::move(f));
}

void stays(const EvidenceView& view, const Swaps& swaps, Output& out) {
  const Experiment* option = nullptr;
  for (const auto& e : view.experiments()) {
    if (e.good && !is_swap(e.condition) && is_option(e.condition)) option = &e;
  }
  auto f = make_finding({"misattributed", model::VerdictKind::kNumeric, model::Owner::kUserCode, option ? 0.88 : 0.72},
                        fmt::format("Not the hardware: the symptom remains after the swap ({}){}",
                                    base::ellipsize(swaps.persisted[0]->condition, 80),
                                    option ? fmt::format("; it goes away with a software change ({})",
                                                         base::ellipsize(option->condition, 80))
                                           : ""));
  for (const auto* e : swaps.persisted) f.evidence.push_back(e->citation);
  if (option) f.evidence.push_back(option->citation);
  add_named(f, model::CulpritKind::kSoftware, option ? option->condition : "software or configuration");
  add_action(f,
             "Return the swapped hardware to service; bisect the options of the run, one at a time, until "
             "turning one back brings the symptom back");
  f.explains_causes = {"gpu_hw_sdc", "gpu_hw_degraded", "kernel_numerics", "comm_overlap_race", "mask_overflow"};
  out.ruled_out.push_back({"gpu_hw_sdc", "the symptom did not move with the hardware", {swaps.persisted[0]->citation}});
  out.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_nan_location(const EvidenceView& view, Output& out) {
  const auto bad = bad_rank(view);
  const auto swaps = swaps_of(view);
  if (!swaps.persisted.empty() && swaps.cured.empty()) {
    stays(view, swaps, out);
    return;
  }
  if (bad.rank < 0 || !bad.same_each_time) return;
  const bool checks =
      view.says(R"(Xid \(PCI)") ||
      std::any_of(view.context().evidence.facts.begin(), view.context().evidence.facts.end(), [&](const auto& f) {
        return view.text(f.key).starts_with("dcgm.") && base::lower(view.text(f.value)).starts_with("fail");
      });
  if (swaps.cured.empty() && bad.times < 2 && !checks) return;
  hardware(view, bad, swaps, out);
}

}  // namespace holter::diagnose
