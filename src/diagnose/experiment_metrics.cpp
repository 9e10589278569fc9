// SPDX-License-Identifier: Apache-2.0
#include "diagnose/experiment_metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <re2/re2.h>

#include "base/strings.h"

namespace holter::diagnose {

namespace {

constexpr double kApart = 0.05;  // of the larger value: smaller differences are noise
constexpr double kNear = 0.25;   // of the distance from the best to the worst value
constexpr std::size_t kMaxRuns = 1000;

struct Measured {
  std::size_t run;
  double value;  // smaller is better
};
using ByMetric = std::map<std::string, std::vector<Measured>>;

void measure(const model::RuleTable& table, const std::vector<Experiment>& runs, ByMetric& out) {
  for (const auto& row : table.rows) {
    if (row.size() != 2 || (row[0] != "lower" && row[0] != "higher")) continue;
    const re2::RE2 pattern("(?i)" + row[1], re2::RE2::Quiet);
    if (!pattern.ok() || pattern.NumberOfCapturingGroups() != 2) continue;
    const double sign = row[0] == "lower" ? 1 : -1;
    for (std::size_t i = 0; i < runs.size() && i < kMaxRuns; ++i) {
      std::string name;
      double value = 0;
      if (re2::RE2::PartialMatch(runs[i].outcome, pattern, &name, &value) && std::isfinite(value))
        out[base::lower(name)].push_back({i, sign * value});
    }
  }
}

}  // namespace

std::vector<Experiment> judge_by_metric(const model::Rules& rules, std::vector<Experiment> runs) {
  std::vector<Experiment> out;
  const auto table = rules.tables.find("outcomes.csv");
  if (table == rules.tables.end() || runs.size() < 2) return out;
  ByMetric metrics;
  measure(table->second, runs, metrics);
  std::vector<bool> taken(runs.size());
  for (const auto& [name, values] : metrics) {
    const auto [best, worst] = std::minmax_element(values.begin(), values.end(),
                                                   [](const auto& a, const auto& b) { return a.value < b.value; });
    const double span = worst->value - best->value;
    if (span < kApart * std::max(std::abs(best->value), std::abs(worst->value))) continue;
    for (const auto& m : values) {
      const bool good = m.value - best->value <= kNear * span;
      if (taken[m.run] || (!good && worst->value - m.value > kNear * span)) continue;
      taken[m.run] = true;
      runs[m.run].good = good;
      out.push_back(std::move(runs[m.run]));
    }
  }
  return out;
}

}  // namespace holter::diagnose
