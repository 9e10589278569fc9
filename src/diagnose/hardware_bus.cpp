// SPDX-License-Identifier: Apache-2.0
// GPUs that no longer answer on PCIe: Xid 79 and 167, "fallen off the bus", a device that lspci shows
// without a header, and counts below the inventory. A container that lost its device nodes ("NVML:
// Unknown Error") is not one of these.
#include <set>

#include <fmt/format.h>

#include "base/pci.h"
#include "base/strings.h"
#include "diagnose/hardware.h"

namespace holter::diagnose {

namespace {

// Fan, temperature, state, power and load: of a GPU that is there, some can be read.
constexpr double kAllUnreadable = 5;

struct Lost {
  std::vector<model::Citation> evidence;
  std::int64_t first_ns = 0;
  bool kernel = false;
  bool off_bus = false;  // lspci shows it gone
};
using LostGpus = std::map<std::pair<std::string, std::string>, Lost>;  // node, PCI

void note(Lost& lost, std::int64_t ns, model::Citation citation) {
  if (ns > 0 && (lost.first_ns == 0 || ns < lost.first_ns)) lost.first_ns = ns;
  if (lost.evidence.size() < 5) lost.evidence.push_back(std::move(citation));
}

struct Count {
  std::optional<int> expected, seen;
  const model::Fact* expected_fact = nullptr;
  const model::Fact* seen_fact = nullptr;
};

std::map<std::string, Count> gpu_counts(const Context& context, const Names& names) {
  std::map<std::string, Count> out;
  std::map<std::string, std::set<std::string>> listed;
  for (const auto& f : context.evidence.facts) {
    const auto key = context.text(f.key);
    const auto node = names.node(f.node);
    if (key.starts_with("inventory.") && key.find("gpu") != std::string_view::npos && f.has_number) {
      out[node].expected = static_cast<int>(f.number);
      out[node].expected_fact = &f;
    } else if (key == "gpu.attached" && f.has_number) {
      out[node].seen = static_cast<int>(f.number);
      out[node].seen_fact = &f;
    } else if (key == "gpu.name" || key == "gpu.pci") {
      listed[node].insert(std::string(context.text(f.subject)));
      if (!out[node].seen_fact) out[node].seen_fact = &f;
    }
  }
  for (const auto& [node, indexes] : listed) {
    if (!out[node].seen) out[node].seen = static_cast<int>(indexes.size());
  }
  return out;
}

void add_count(const Context& context, const Count& count, model::Finding& f) {
  if (count.expected_fact) f.evidence.push_back(cite(context, *count.expected_fact, "GPUs that the node should have"));
  if (count.seen_fact) f.evidence.push_back(cite(context, *count.seen_fact, "GPUs that the driver lists"));
}

bool is_short(const Count& c) { return c.expected && c.seen && *c.seen < *c.expected; }

model::Finding base_finding(const std::string& node) {
  model::Finding f;
  f.cause = "gpu_fell_off_bus";
  f.kind = model::VerdictKind::kNodeFault;
  f.owner = model::Owner::kPlatform;
  f.severity = model::Severity::kNodeFatal;
  f.restart = model::Restart::kNow;
  f.local = true;
  f.explains_causes = {"gsp_firmware",    "app_kernel_fault", "rank_crashed",
                       "gpu_hw_degraded", "ecc_row_remap",    "cgroup_device_loss"};
  if (!node.empty()) f.exclude_nodes = {node};
  f.actions.push_back(drain(node, "GPU lost on PCIe"));
  f.actions.push_back({"Power-cycle the node (a reset does not bring the device back)", "", model::Risk::kDisruptive});
  f.actions.push_back(
      {"If it comes back and falls off again: reseat the card or riser, check power cables and the "
       "slot, then swap the card to another slot to tell card from slot",
       "", model::Risk::kDisruptive});
  return f;
}

LostGpus collect(const Context& context, const Names& names) {
  LostGpus lost;
  for (const auto* e : events_of(context, "kernel.fell_off")) {
    auto& l = lost[{names.node(e->node), std::string(field(context, *e, "pci"))}];
    l.kernel = true;
    note(l, comparable_ns(*e), cite(context, *e, "the driver says that the GPU left the bus"));
  }
  for (const auto& x : ordered_xids(context, names)) {
    if (x.number != 79 && x.number != 167) continue;
    auto& l = lost[{x.node, x.pci}];
    l.kernel = true;
    note(l, comparable_ns(*x.event), cite(context, *x.event, "the driver says that the GPU left the bus"));
  }
  for (const auto* f : facts_of(context, "gpu.lost")) {
    const auto pci = base::canonical_pci(context.text(f->subject));
    note(lost[{names.node(f->node), pci}], 0, cite(context, *f, "nvidia-smi gets no answer from the device"));
  }
  for (const auto* f : facts_of(context, "smi.unreadable")) {
    if (f->number < kAllUnreadable) continue;
    const auto pci = base::canonical_pci(context.text(f->subject));
    note(lost[{names.node(f->node), pci}], 0, cite(context, *f, "no field of the device can be read"));
  }
  for (const auto* f : facts_of(context, "pci.absent")) {
    const auto pci = base::canonical_pci(context.text(f->subject));
    const auto about = context.text(f->context);
    const bool gpu =
        about.find("NVIDIA") != std::string_view::npos && about.find("ontroller") != std::string_view::npos;
    auto it = lost.begin();
    while (it != lost.end() && it->first.second != pci) ++it;
    if (it == lost.end() && !gpu) continue;
    auto& l = it != lost.end() ? it->second : lost[{names.node(f->node), pci}];
    l.off_bus = true;
    note(l, 0, cite(context, *f, "the device does not answer configuration reads"));
  }
  return lost;
}

}  // namespace

void diagnose_bus(const Context& context, Output& output) {
  const Names names(context);
  const auto counts = gpu_counts(context, names);
  const auto lost = collect(context, names);
  const auto xids = ordered_xids(context, names);
  std::set<std::string> explained;
  for (const auto& [where, l] : lost) {
    const auto& [node, pci] = where;
    auto f = base_finding(node);
    f.confidence = l.kernel ? 0.92 : 0.75;
    if (!l.kernel && !l.off_bus) f.confidence = l.evidence.size() > 1 ? 0.75 : 0.65;
    f.first_ns = l.first_ns;
    f.evidence = l.evidence;
    f.culprits = {gpu_culprit(names, node, pci)};
    f.title = fmt::format("{} {}", names.gpu(node, pci),
                          l.kernel || l.off_bus ? "has fallen off the bus" : "does not answer: the driver lost it");
    if (!l.kernel) f.needs = {"kernel log of the node: dmesg -T | grep -iE 'NVRM|AER'"};
    if (const auto c = counts.find(node); c != counts.end() && is_short(c->second)) {
      f.title += fmt::format(": {} of {} GPUs are left", *c->second.seen, *c->second.expected);
      add_count(context, c->second, f);
    }
    for (const auto& x : xids) {
      if (x.node == node && x.number == 79) add_followers(context, xids, x, f);
    }
    explained.insert(node);
    output.findings.push_back(std::move(f));
  }
  for (const auto& [node, c] : counts) {
    if (!is_short(c) || explained.contains(node)) continue;
    auto f = base_finding(node);
    f.confidence = 0.6;
    f.title = fmt::format("{} of {} GPUs are listed{}: one or more are lost without a kernel message", *c.seen,
                          *c.expected, node.empty() ? "" : " on " + node);
    add_count(context, c, f);
    f.culprits = {{.kind = model::CulpritKind::kNode, .node = node, .name = node}};
    f.needs = {"kernel log of the node: dmesg -T | grep -iE 'NVRM|AER'",
               "lspci -d 10de: -nn (a GPU with rev ff is off the bus)"};
    output.findings.push_back(std::move(f));
  }
}

}  // namespace holter::diagnose
