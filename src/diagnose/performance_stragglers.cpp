// SPDX-License-Identifier: Apache-2.0
// One rank slower than its peers in its own work, from per-rank tables: the culprit has the largest time
// before the collective and the smallest wait in it; equal step times hide it (facts: incidents 4.10).
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analytics/stats.h"
#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

using analytics::TableView;
using PerRank = std::map<int, std::vector<double>>;

PerRank per_rank(const TableView& t, int rank, int column) {
  PerRank out;
  for (std::size_t r = 0; r < t.rows(); ++r) {
    const auto who = t.number(r, rank);
    const auto value = t.number(r, column);
    if (who && value && std::isfinite(*value)) out[static_cast<int>(*who)].push_back(*value);
  }
  return out;
}

struct Outlier {
  int rank = -1;
  double value = 0, others = 0;
};

// The rank whose median stands out of the others' in one direction; steady over rows, not a single spike.
Outlier outlier(const PerRank& values, bool high) {
  std::vector<double> medians;
  for (const auto& [rank, v] : values) medians.push_back(analytics::median(v));
  if (medians.size() < 3) return {};
  const double middle = analytics::median(medians);
  const double noise = std::max(analytics::spread(medians), 0.01 * std::abs(middle));
  Outlier best;
  double most = 0;
  for (const auto& [rank, v] : values) {
    const double d = (analytics::median(v) - middle) * (high ? 1 : -1);
    if (d > most) most = d, best = {rank, analytics::median(v), middle};
  }
  return most > 5 * noise && most > 0.08 * std::abs(middle) ? best : Outlier{};
}

std::size_t row_of(const TableView& t, int rank_column, int rank) {
  for (std::size_t r = t.rows(); r-- > 0;) {
    if (t.number(r, rank_column) == rank) return r;
  }
  return 0;
}

bool equal_steps(const TableView& t, int rank) {
  const int step = t.column("step_time");
  if (step < 0) return false;
  return outlier(per_rank(t, rank, step), true).rank < 0;
}

constexpr double kImbalance = 2;  // times the load of a middle rank

// Tokens routed to one expert-parallel rank, far above the others' in the whole table.
void expert_load(const EvidenceView& view, const TableView& t, int rank, Output& out) {
  const int load = t.column("expert_tokens");
  if (load < 0) return;
  const auto busy = outlier(per_rank(t, rank, load), true);
  if (busy.rank < 0 || busy.value < kImbalance * busy.others) return;
  auto f = make_finding({"expert_imbalance", model::VerdictKind::kSlow, model::Owner::kFramework, 0.75},
                        fmt::format("The experts of rank {} get {:.4g} tokens ({}) where the other ranks get {:.4g}",
                                    busy.rank, busy.value, t.name(load), busy.others));
  f.severity = model::Severity::kDegraded;
  f.evidence = {view.cite(t, row_of(t, rank, busy.rank), "the busy rank")};
  for (std::size_t r = 0; r < t.rows() && f.evidence.size() < 2; ++r) {
    if (t.number(r, rank) != busy.rank) f.evidence.push_back(view.cite(t, r, "another rank in comparison"));
  }
  add_rank(f, view.context(), busy.rank);
  add_action(f,
             "Look at the router's balance loss and capacity factor, or place copies of the busy experts on more "
             "ranks");
  f.explains_causes = {"straggler", "straggler_masked"};
  out.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_stragglers(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int rank = t.column("rank");
    if (rank < 0 || t.rows() < 3) continue;
    expert_load(view, t, rank, out);
    Outlier slow, waits;
    int slow_column = -1, wait_column = -1;
    for (const int c : t.columns("own_time")) {
      const auto o = outlier(per_rank(t, rank, c), true);
      if (o.rank >= 0 &&
          (slow.rank < 0 || o.value / std::max(o.others, 1e-9) > slow.value / std::max(slow.others, 1e-9)))
        slow = o, slow_column = c;
    }
    for (const int c : t.columns("wait_time")) {
      if (c == slow_column) continue;
      const auto o = outlier(per_rank(t, rank, c), false);
      if (o.rank >= 0) waits = o, wait_column = c;
    }
    if (slow.rank < 0 && waits.rank < 0) continue;
    const int who = slow.rank >= 0 ? slow.rank : waits.rank;
    const bool agree = slow.rank >= 0 && slow.rank == waits.rank;
    const bool masked = equal_steps(t, rank) || wait_column >= 0;
    const auto slow_name = slow_column >= 0 ? base::lower(t.name(slow_column)) : std::string();
    const bool input = slow_name.find("data") != std::string::npos || slow_name.find("input") != std::string::npos;
    auto f = make_finding({masked ? "straggler_masked" : "straggler", model::VerdictKind::kSlow, model::Owner::kUnknown,
                           agree ? 0.8 : 0.68},
                          "");
    f.depth = model::Depth::kMechanism;
    const auto node = view.context().job.node_of.find(who);
    f.title = fmt::format(
        "Rank {}{} is the straggler{}", who, node == view.context().job.node_of.end() ? "" : " (" + node->second + ")",
        slow.rank >= 0
            ? fmt::format(": {} is {:.4g} against {:.4g} on the others", t.name(slow_column), slow.value, slow.others)
            : "");
    if (waits.rank == who)
      f.title +=
          fmt::format("; it waits least ({} {:.4g} against {:.4g})", t.name(wait_column), waits.value, waits.others);
    if (masked) f.title += "; the collectives hide it in equal step times";
    f.evidence.push_back(view.cite(t, row_of(t, rank, who), "the slow rank"));
    for (std::size_t r = 0; r < t.rows() && f.evidence.size() < 3; ++r) {
      if (t.number(r, rank) != who) f.evidence.push_back(view.cite(t, r, "another rank in comparison"));
    }
    add_rank(f, view.context(), who);
    add_action(f,
               input ? "Look at the input pipeline of that rank (loader workers, storage, CPU affinity)"
                     : "Compare clocks, throttle reasons, PCIe link and CPU affinity of that rank's GPU with its "
                       "neighbours; run a GEMM test; move the rank to another GPU to see whether the slowness follows",
               "nvidia-smi -q -d PERFORMANCE,CLOCK,POWER; py-spy dump on the rank");
    f.needs.push_back("clocks, throttle reasons and PCIe link of its GPU under load tell why");
    f.explains_causes = {"network_congestion"};
    out.findings.push_back(std::move(f));
  }
}

}  // namespace holter::diagnose
