// SPDX-License-Identifier: Apache-2.0
// Pauses of Python's garbage collector: large, rare, and on another rank each time, so that every step
// that meets one is slow for all.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analytics/stats.h"
#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

struct Pause {
  const analytics::TableView* table;
  std::size_t row;
  int rank;
  double ms;
};

double to_ms(std::string_view column) {
  const auto n = base::lower(column);
  return n.ends_with("_s") || n.ends_with("sec") || n.ends_with("seconds") ? 1000.0 : 1.0;
}

std::vector<Pause> pauses_of(const EvidenceView& view) {
  std::vector<Pause> out;
  for (const auto& t : view.tables()) {
    const int gc = t.column("gc_time");
    if (gc < 0 || t.rows() < 3) continue;
    const int rank = t.column("rank");
    for (std::size_t r = 0; r < t.rows(); ++r) {
      const double ms = t.number(r, gc).value_or(0) * to_ms(t.name(gc));
      if (ms < 100 || !std::isfinite(ms)) continue;
      out.push_back({&t, r, rank < 0 ? -1 : static_cast<int>(t.number(r, rank).value_or(-1)), ms});
    }
  }
  return out;
}

}  // namespace

void diagnose_pauses(const EvidenceView& view, Output& out) {
  const auto pauses = pauses_of(view);
  const auto stacks = view.lines(R"(_collect \(gc|gc\.collect|gc_collect_main|generation 2)",
                                 "a thread is in the garbage collector", 2);
  if (pauses.empty() && stacks.empty()) return;
  std::vector<int> order;
  std::vector<double> lengths;
  for (const auto& p : pauses) {
    lengths.push_back(p.ms);
    if (p.rank >= 0 && std::find(order.begin(), order.end(), p.rank) == order.end()) order.push_back(p.rank);
  }
  if (pauses.empty()) return;  // a single stack in gc is the stack diagnoser's
  std::string ranks;
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 8); ++i)
    ranks += (i ? ", " : "") + std::to_string(order[i]);
  const bool rotates = order.size() > 1;
  auto f = make_finding({"python_gc", model::VerdictKind::kSlow, model::Owner::kUserCode, rotates ? 0.88 : 0.8},
                        fmt::format("Python garbage collection pauses one rank for {:.0f} ms at a time{}; every "
                                    "such step is slow for all ranks",
                                    analytics::median(lengths),
                                    rotates         ? fmt::format(", on different ranks in turn (rank {})", ranks)
                                    : order.empty() ? ""
                                                    : fmt::format(" (rank {})", ranks)));
  for (const auto& p : pauses) {
    if (f.evidence.size() < 4)
      f.evidence.push_back(
          view.cite(*p.table, p.row, fmt::format("garbage collection of {:.0f} ms in this step", p.ms)));
  }
  append(f.evidence, stacks);
  for (const auto* o : view.settings("objects|PYTHONGC|gc_")) {
    if (f.evidence.size() < 7) f.evidence.push_back(view.cite(*o, "objects and settings of the collector"));
  }
  add_named(f, model::CulpritKind::kSoftware,
            rotates ? "unsynchronised garbage collection, rotating over ranks " + ranks : "garbage collection");
  add_action(f,
             "Disable automatic garbage collection and collect on all ranks at the same step (gc.disable(), "
             "gc.collect() every N steps), or gc.freeze() after start-up",
             "python -X importtime ... ; gc.callbacks to log pauses");
  f.explains_causes = {"straggler", "straggler_masked", "network_congestion", "host_stuck", "storage_slow"};
  out.findings.push_back(std::move(f));
}

}  // namespace holter::diagnose
