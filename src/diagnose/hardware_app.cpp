// SPDX-License-Identifier: Apache-2.0
// Xid 13, 31 and their kind are the application's first. They are the hardware's when they stay at one
// place of one GPU over several programs, when a diagnostic fails on that GPU, or when exchanging the
// node moves the symptom.
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/hardware.h"
#include "formats/kernel/xid_table.h"

namespace holter::diagnose {

namespace {

struct Device {
  std::vector<const Xid*> xids;
  std::set<std::string> programs, pids;
  std::map<std::string, std::set<std::string>> programs_at;  // "GPC 2, TPC 4" -> programs
};

// "GPC 2, TPC 4, SM 1" without the SM: the vendor's rule compares GPC and TPC.
std::string tpc_of(std::string_view unit) { return std::string(unit.substr(0, unit.find(", SM"))); }

struct Support {
  const model::Fact* failed_test = nullptr;
  const model::Table* swap = nullptr;
  std::size_t swap_row = 0;
};

bool is_bad(std::string_view v) {
  const auto w = base::lower(base::trim(v));
  return w == "yes" || w == "fail" || w == "failed" || w == "bad" || w == "nan" || w == "true" || w == "hang" ||
         w == "wrong";
}
bool is_good(std::string_view v) {
  const auto w = base::lower(base::trim(v));
  return w == "no" || w == "pass" || w == "passed" || w == "good" || w == "ok" || w == "false" || w == "clean" ||
         w == "none";
}

// A table of reruns in which the run without `node` is good and others are bad.
void find_swap(const Context& context, const std::string& node, Support& out) {
  if (node.empty()) return;
  for (const auto& t : context.evidence.tables) {
    std::size_t swap = t.columns.size(), result = t.columns.size();
    for (std::size_t i = 0; i < t.columns.size(); ++i) {
      const auto name = base::lower(context.text(t.columns[i]));
      if (name.find("swap") != std::string::npos || name.find("replac") != std::string::npos ||
          name.find("moved") != std::string::npos)
        swap = i;
      else if (result == t.columns.size() && !t.rows.empty() && i < t.rows[0].size() &&
               (is_bad(context.text(t.rows[0][i])) || is_good(context.text(t.rows[0][i]))) && i > 0)
        result = i;
    }
    if (swap == t.columns.size() || result == t.columns.size()) continue;
    int bad_with = 0, good_without = 0, bad_without = 0;
    std::size_t row = 0;
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
      const auto cell = context.text(t.rows[r][swap]);
      const bool without = cell.find(node) != std::string_view::npos && cell.find("back") == std::string_view::npos;
      const auto value = context.text(t.rows[r][result]);
      if (without && is_good(value)) ++good_without, row = r;
      if (without && is_bad(value)) ++bad_without;
      if (!without && is_bad(value)) ++bad_with;
    }
    if (good_without > 0 && bad_without == 0 && bad_with > 0) out.swap = &t, out.swap_row = row;
  }
}

Support find_support(const Context& context, const Names& names, const std::string& node, const std::string& pci) {
  Support out;
  const auto index = names.gpu_index(node, pci);
  for (const auto& f : context.evidence.facts) {
    if (!context.text(f.key).starts_with("dcgm.") || index.empty() || context.text(f.subject) != index) continue;
    if (base::lower(context.text(f.value)).starts_with("fail")) out.failed_test = &f;
  }
  find_swap(context, node, out);
  return out;
}

void add_support(const Context& context, const Support& s, model::Finding& f) {
  if (s.failed_test) f.evidence.push_back(cite(context, *s.failed_test, "a diagnostic fails on this GPU"));
  if (!s.swap) return;
  std::string row;
  for (const auto cell : s.swap->rows[s.swap_row]) row += (row.empty() ? "" : ",") + std::string(context.text(cell));
  auto at = s.swap->at;
  if (s.swap_row < s.swap->lines.size()) at.pos = s.swap->lines[s.swap_row];
  f.evidence.push_back(cite(context, at, row, "swap experiment: without this node the symptom is gone"));
}

void report_hardware(const Context& context, const Names& names, const std::string& node, const std::string& pci,
                     const Device& d, const std::string& tpc, const Support& s, Output& output) {
  model::Finding f;
  f.cause = "gpu_hw_sdc";
  f.kind = model::VerdictKind::kNodeFault;
  f.owner = model::Owner::kPlatform;
  f.severity = model::Severity::kGpuFatal;
  f.restart = model::Restart::kNow;
  f.local = true;
  f.confidence = 0.6 + (s.failed_test ? 0.16 : 0) + (s.swap ? 0.17 : 0);
  if (tpc.empty()) f.confidence -= 0.05;
  f.first_ns = comparable_ns(*d.xids.front()->event);
  f.culprits = {gpu_culprit(names, node, pci)};
  const auto rank = names.rank_of_gpu(node, pci);
  if (rank >= 0) f.ranks = model::RankSet{rank};
  if (!node.empty()) f.exclude_nodes = {node};
  std::vector<std::string> reasons;
  if (!tpc.empty())
    reasons.push_back(
        fmt::format("Xid {} at {} under {} programs", d.xids.front()->number, tpc, d.programs_at.at(tpc).size()));
  else reasons.push_back(fmt::format("Xid {} on this GPU only", d.xids.front()->number));
  if (s.failed_test) reasons.push_back("a failing diagnostic");
  if (s.swap) reasons.push_back("a swap of the node that removes the symptom");
  f.title = fmt::format("{}{} computes wrongly: {}", names.gpu(node, pci),
                        rank >= 0 ? fmt::format(" (rank {})", rank) : "", join_names(reasons));
  for (const auto* x : d.xids) {
    if (f.evidence.size() < 3) f.evidence.push_back(cite(context, *x->event, "the same GPU, another program"));
  }
  add_support(context, s, f);
  f.explains_causes = {"app_kernel_fault",  "loss_divergence_config", "mask_overflow",
                       "comm_overlap_race", "kernel_numerics",        "rank_crashed"};
  f.actions.push_back(drain(node, "GPU computes wrongly"));
  f.actions.push_back(
      {fmt::format("Reset {} and run the long diagnostic; replace it only when that fails or the symptom follows it",
                   names.gpu(node, pci)),
       "dcgmi diag -r 3", model::Risk::kDisruptive});
  if (!s.failed_test) f.needs.push_back("dcgmi diag -r 3 on the node");
  if (!s.swap) f.needs.push_back("the same job on another node, and another job on this one");
  output.findings.push_back(std::move(f));
}

void report_application(const Context& context, const Names& names,
                        const std::map<std::pair<std::string, std::string>, Device>& all, Output& output) {
  const Xid* first = nullptr;
  std::size_t gpus = 0;
  model::Finding f;
  for (const auto& [where, d] : all) {
    ++gpus;
    for (const auto* x : d.xids) {
      if (!first || (x->ns > 0 && x->ns < first->ns)) first = x;
    }
    if (f.evidence.size() < 4) f.evidence.push_back(cite(context, *d.xids.front()->event, "kernel of the application"));
  }
  if (!first) return;
  f.cause = "app_kernel_fault";
  f.kind = model::VerdictKind::kCrash;
  f.owner = model::Owner::kUserCode;
  f.severity = model::Severity::kApplication;
  f.restart = model::Restart::kAfterEvidence;
  f.local = true;
  f.confidence = gpus > 1 ? 0.7 : 0.6;
  f.first_ns = comparable_ns(*first->event);
  const auto info = formats::kernel::xid_info(context.rules, first->number);
  const auto program = field(context, *first->event, "name");
  f.title =
      fmt::format("A kernel of {} made an illegal access (Xid {}, first on {}{}){}",
                  program.empty() ? "the application" : program, first->number, names.gpu(first->node, first->pci),
                  gpus > 1 ? fmt::format(", then on {} GPUs", gpus) : "", info ? ": " + info->meaning : "");
  model::Culprit c;
  c.kind = model::CulpritKind::kSoftware;
  c.node = first->node;
  c.name = program.empty() ? "application kernel" : std::string(program);
  f.culprits = {c};
  f.actions.push_back(
      {"Find the kernel: run with CUDA_LAUNCH_BLOCKING=1, then under compute-sanitizer; compare with the last version that worked",
       "compute-sanitizer --tool memcheck python ...", model::Risk::kLow});
  f.needs = {"the same job on another node: hardware is suspected only if the fault stays with this GPU"};
  f.explains_causes = {"rank_crashed"};
  output.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_app_xid(const Context& context, Output& output) {
  const Names names(context);
  const auto xids = ordered_xids(context, names);
  std::map<std::pair<std::string, std::string>, Device> all;
  for (const auto& x : xids) {
    const auto info = formats::kernel::xid_info(context.rules, x.number);
    if (!info || info->severity != "app" || info->category != "application" || is_follower(x) || x.caused_by >= 0)
      continue;
    auto& d = all[{x.node, x.pci}];
    d.xids.push_back(&x);
    const auto program = std::string(field(context, *x.event, "name"));
    const auto place = tpc_of(field(context, *x.event, "unit"));
    d.programs.insert(program);
    d.pids.insert(std::string(field(context, *x.event, "pid")));
    if (!place.empty() && !program.empty()) d.programs_at[place].insert(program);
  }
  std::map<std::pair<std::string, std::string>, Device> application;
  for (const auto& [where, d] : all) {
    const auto support = find_support(context, names, where.first, where.second);
    std::string tpc;
    for (const auto& [place, programs] : d.programs_at) {
      if (programs.size() >= 2) tpc = place;
    }
    if (!tpc.empty() || support.failed_test || support.swap)
      report_hardware(context, names, where.first, where.second, d, tpc, support, output);
    else application[where] = d;
  }
  report_application(context, names, application, output);
}

}  // namespace holter::diagnose
