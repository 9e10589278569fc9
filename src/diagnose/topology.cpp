// SPDX-License-Identifier: Apache-2.0
#include "diagnose/topology.h"

#include "hang/topology.h"

namespace holter::diagnose {

namespace {

constexpr std::size_t kMaxCommunicators = 8;

// Edges into ranks that the root finding is about, when it is a fault that breaks connections.
void add_root_edges(const model::Report& report, const hang::CommTopology& t,
                    std::set<std::pair<std::int32_t, std::int32_t>>& broken) {
  if (report.findings.empty() || report.findings.front().role != model::Role::kRoot) return;
  const auto& root = report.findings.front();
  const bool breaks = root.cause == "rank_crashed" || root.cause == "link_flap" || root.cause == "host_oom_kill" ||
                      root.cause == "gpu_fell_off_bus" || root.cause == "nvlink_hw";
  if (!breaks) return;
  for (const auto& c : root.culprits) {
    for (const auto& [process, rank] : t.rank_of) {
      const bool it = c.rank ? *c.rank == rank : !c.node.empty() && c.node == process.first;
      if (!it) continue;
      for (const auto& ring : t.rings) {
        if (const auto next = ring.next.find(rank); next != ring.next.end()) broken.insert({rank, next->second});
        if (const auto prev = ring.prev_of(rank)) broken.insert({*prev, rank});
      }
    }
  }
}

}  // namespace

void add_topology(const Context& context, model::Report& report) {
  for (const auto& t : hang::restore_topology(context.evidence)) {
    if (report.topology.size() >= kMaxCommunicators) break;
    if (t.rings.empty() && t.tree_edges.empty()) continue;
    std::set<std::pair<std::int32_t, std::int32_t>> broken;
    if (const auto lost = hang::find_lost_peer(context.evidence, t))
      broken.insert(lost->broken.begin(), lost->broken.end());
    add_root_edges(report, t, broken);
    report.topology.push_back(hang::to_report(t, broken));
  }
}

}  // namespace holter::diagnose
