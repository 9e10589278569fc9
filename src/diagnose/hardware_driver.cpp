// SPDX-License-Identifier: Apache-2.0
// Firmware (Xid 119, 120), driver version skew, and every other Xid by the table, unknown numbers
// included.
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/hardware.h"
#include "formats/kernel/xid_table.h"

namespace holter::diagnose {

namespace {

bool has_family(int n) {
  static const std::set<int> kOwn{13,  31,  43,  45,  48,  63,  64,  74,  79,  92,  94,  95,  119, 120,
                                  136, 140, 154, 155, 156, 157, 166, 167, 168, 170, 171, 172, 175};
  return kOwn.contains(n) || (n >= 144 && n <= 150);
}

// What the driver itself recommends (Xid 154) for a GPU.
const Xid* recovery_of(const std::vector<Xid>& all, const Xid& x) {
  for (const auto& r : all) {
    if (r.number == 154 && r.node == x.node && r.pci == x.pci) return &r;
  }
  return nullptr;
}

void add_recovery(const Context& context, const std::vector<Xid>& all, const Xid& x, model::Finding& f) {
  const auto* r = recovery_of(all, x);
  if (!r) return;
  const auto action = field(context, *r->event, "action");
  f.evidence.push_back(cite(context, *r->event, "what the driver itself recommends"));
  f.actions.push_back({fmt::format("The driver recommends: {}", action), "", model::Risk::kDisruptive});
}

model::Finding base_finding(const Context& context, const Names& names, const Xid& x) {
  model::Finding f;
  f.kind = model::VerdictKind::kNodeFault;
  f.owner = model::Owner::kPlatform;
  f.restart = model::Restart::kNow;
  f.local = true;
  f.first_ns = comparable_ns(*x.event);
  f.culprits = {gpu_culprit(names, x.node, x.pci)};
  if (!x.node.empty()) f.exclude_nodes = {x.node};
  f.evidence.push_back(cite(context, *x.event, fmt::format("the first Xid {} of this GPU", x.number)));
  return f;
}

}  // namespace

void diagnose_gsp(const Context& context, Output& output) {
  const Names names(context);
  const auto all = ordered_xids(context, names);
  std::set<std::pair<std::string, std::string>> done;
  for (const auto& x : all) {
    if ((x.number != 119 && x.number != 120) || !done.insert({x.node, x.pci}).second) continue;
    std::size_t times = 0;
    for (const auto& y : all) times += y.node == x.node && y.pci == x.pci && (y.number == 119 || y.number == 120);
    auto f = base_finding(context, names, x);
    f.cause = "gsp_firmware";
    f.owner = model::Owner::kVendor;
    f.confidence = 0.9;
    f.severity = model::Severity::kGpuFatal;
    f.title = fmt::format("{}: the GPU's firmware (GSP) {} (Xid {}{})", names.gpu(x.node, x.pci),
                          x.number == 119 ? "does not answer the driver" : "reported an error", x.number,
                          times > 1 ? fmt::format(", {} times", times) : "");
    add_followers(context, all, x, f);
    f.actions.push_back(drain(x.node, "GSP timeout"));
    f.actions.push_back(reset_gpu(names, x.node, x.pci));
    f.actions.push_back(
        {"If it comes back: update the driver, or switch the firmware off where the driver allows it (NVreg_EnableGpuFirmware=0)",
         "", model::Risk::kDisruptive});
    add_recovery(context, all, x, f);
    f.explains_causes = {"rank_crashed", "app_kernel_fault", "device_kernel_stuck"};
    f.needs = {"whether other GPUs with this driver show it too: that is software; one GPU alone: that device"};
    output.findings.push_back(std::move(f));
  }
}

void diagnose_other_xid(const Context& context, Output& output) {
  const Names names(context);
  const auto all = ordered_xids(context, names);
  std::set<std::tuple<std::string, std::string, int>> done;
  for (const auto& x : all) {
    if (has_family(x.number) || x.caused_by >= 0 || !done.insert({x.node, x.pci, x.number}).second) continue;
    const auto info = formats::kernel::xid_info(context.rules, x.number);
    if (info && info->category == "application") continue;
    auto f = base_finding(context, names, x);
    const bool fatal = info && (info->severity == "gpu_fatal" || info->severity == "node_fatal");
    f.cause = fatal || (info && info->severity == "degraded") ? "gpu_hw_degraded" : "unknown";
    f.confidence = fatal ? 0.7 : info && info->severity == "degraded" ? 0.45 : 0.3;
    f.severity = info ? formats::kernel::severity_of(info->severity) : model::Severity::kApplication;
    f.title = info ? fmt::format("{}: Xid {}: {}", names.gpu(x.node, x.pci), x.number, info->meaning)
                   : fmt::format("{}: Xid {}, which the tables do not know", names.gpu(x.node, x.pci), x.number);
    if (!fatal) f.exclude_nodes.clear(), f.local = false, f.depth = model::Depth::kSymptom;
    if (fatal) {
      f.actions.push_back(drain(x.node, fmt::format("Xid {}", x.number)));
      f.actions.push_back(reset_gpu(names, x.node, x.pci));
      add_followers(context, all, x, f);
    }
    add_recovery(context, all, x, f);
    if (!info) f.needs = {fmt::format("the vendor's text for Xid {}", x.number)};
    output.findings.push_back(std::move(f));
  }
  // A lone teardown record says only that a program ended.
  for (const auto& x : all) {
    if (!is_follower(x) || x.caused_by >= 0 || all.size() > 1) continue;
    output.gaps.push_back(fmt::format(
        "Only Xid {} is in the kernel log: it follows another fault that is not in the evidence", x.number));
  }
}

void diagnose_driver(const Context& context, Output& output) {
  const Names names(context);
  std::set<std::string> done;
  for (const auto* e : events_of(context, "kernel.driver_mismatch")) {
    const auto node = names.node(e->node);
    if (!done.insert(node).second) continue;
    model::Finding f;
    f.cause = "driver_version_skew";
    f.kind = model::VerdictKind::kConfig;
    f.owner = model::Owner::kPlatform;
    f.severity = model::Severity::kNodeFatal;
    f.restart = model::Restart::kNow;
    f.confidence = 0.93;
    f.local = true;
    f.first_ns = comparable_ns(*e);
    if (!node.empty()) f.exclude_nodes = {node};
    f.culprits = {{.kind = model::CulpritKind::kNode, .node = node, .name = "NVIDIA driver"}};
    f.title = fmt::format(
        "The NVIDIA library ({}) and the loaded kernel module ({}) differ{}: the driver was upgraded under a running system",
        field(context, *e, "client"), field(context, *e, "module"), node.empty() ? "" : " on " + node);
    f.evidence.push_back(cite(context, *e, "both versions"));
    f.explains_causes = {"gpu_fell_off_bus", "cgroup_device_loss", "cuda_driver_incompatible"};
    f.actions.push_back({"Reload the driver or reboot the node", "reboot", model::Risk::kDisruptive});
    f.actions.push_back({"Keep the driver packages from unattended upgrades", "apt-mark hold 'nvidia-*' 'libnvidia-*'",
                         model::Risk::kLow});
    output.findings.push_back(std::move(f));
  }
}

}  // namespace holter::diagnose
