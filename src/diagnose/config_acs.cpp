// SPDX-License-Identifier: Apache-2.0
// PCIe access control or IOMMU translation in the way of GPU peer-to-peer (facts: incidents 2 and 3.13).
#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

bool iommu_passthrough(const EvidenceView& view) {
  for (const auto* f : view.under("kernel.param.")) {
    const auto key = view.text(f->key), value = view.text(f->value);
    if (!key.ends_with("iommu")) continue;
    if (value == "pt" || value == "off" || value.find("=pt") != std::string_view::npos) return true;
  }
  return false;
}

std::string only_node(const EvidenceView& view) {
  const auto& nodes = view.context().job.nodes;
  return nodes.size() == 1 ? nodes[0] : std::string();
}

}  // namespace

void diagnose_pcie_acs(const EvidenceView& view, Output& out) {
  std::vector<const model::Fact*> redirecting;
  for (const auto* f : view.facts("pci.acs")) {
    if (f->number == 1) redirecting.push_back(f);
  }
  const auto units = view.facts("iommu.units");
  const bool iommu = !units.empty() && !iommu_passthrough(view);
  const Experiment* without_p2p = nullptr;
  for (const auto& e : view.experiments()) {
    if (e.good && base::contains_ignore_case(e.condition, "P2P") &&
        (e.condition.find("=1") != std::string::npos || base::contains_ignore_case(e.condition, "off") ||
         base::contains_ignore_case(e.condition, "disable")))
      without_p2p = &e;
  }
  if (redirecting.empty() && !without_p2p) return;
  if (redirecting.empty() && !iommu && !view.says("P2P/")) return;
  double confidence = 0.35;
  if (!redirecting.empty()) confidence += 0.15;
  if (iommu) confidence += 0.08;
  if (without_p2p) confidence += 0.3;
  auto node = only_node(view);
  if (!redirecting.empty() && node.empty()) node = view.node(*redirecting.front());
  auto f = make_finding({"pcie_acs_iommu_p2p", without_p2p ? model::VerdictKind::kHang : model::VerdictKind::kConfig,
                         model::Owner::kPlatform, confidence},
                        "");
  std::string what = redirecting.empty() ? ""
                                         : fmt::format("ACS redirects peer-to-peer on {} PCIe bridge{}",
                                                       redirecting.size(), redirecting.size() > 1 ? "s" : "");
  if (iommu)
    what += (what.empty() ? "" : " and ") +
            fmt::format("the IOMMU ({} units) translates", static_cast<int>(units[0]->number));
  if (what.empty()) what = "GPU peer-to-peer (P2P) does not work here; ACS or IOMMU translation is the usual reason";
  f.title = fmt::format("{}{}: GPU peer-to-peer (P2P) traffic does not arrive{}", node.empty() ? "" : node + ": ", what,
                        without_p2p ? "; with P2P disabled the same test works" : "");
  for (const auto* r : redirecting) {
    if (f.evidence.size() < 2)
      f.evidence.push_back(
          view.cite(*r, fmt::format("bridge {} redirects requests to the root", view.text(r->subject))));
  }
  if (iommu) f.evidence.push_back(view.cite(*units[0], "the IOMMU is active"));
  if (iommu) {
    for (const auto* c : view.facts("kernel.cmdline"))
      f.evidence.push_back(view.cite(*c, "no iommu=pt or iommu=off on the kernel command line"));
  }
  if (without_p2p) f.evidence.push_back(without_p2p->citation);
  for (const auto& e : view.experiments()) {
    if (!e.good && !without_p2p) continue;
    if (!e.good && f.evidence.size() < 6 && base::contains_ignore_case(e.condition, "perf"))
      f.evidence.push_back(e.citation);
  }
  add_node(f, node);
  if (node.empty()) add_named(f, model::CulpritKind::kConfig, "PCIe ACS and IOMMU set-up");
  add_action(f,
             "Disable ACS redirection on the bridges (BIOS or setpci) and IOMMU translation (iommu=pt or "
             "BIOS), then reboot",
             "setpci -v -s <bridge> ECAP_ACS+0x6.w=0000");
  add_action(f, "Interim: set NCCL_P2P_DISABLE=1 (slower, through host memory)", "export NCCL_P2P_DISABLE=1");
  f.explains_causes = {"data_path_stall", "device_kernel_stuck", "nccl_bug", "host_stuck"};
  if (!without_p2p)
    f.needs.push_back("all_reduce_perf with and without NCCL_P2P_DISABLE=1; simpleP2P or p2pBandwidthLatencyTest");
  out.findings.push_back(std::move(f));
}

}  // namespace holter::diagnose
