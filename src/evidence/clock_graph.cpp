// SPDX-License-Identifier: Apache-2.0
#include "evidence/clock_graph.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace holter::evidence {

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kPollNs = 100 * kMs;  // of PyTorch's watchdog: when few events show no spread
constexpr std::size_t kFewEvents = 5;
constexpr std::int64_t kLeastErrorNs = kMs;
constexpr std::int64_t kMaxSpreadNs = 10'000 * kMs;  // beyond it the events are not what they seem
constexpr std::int64_t kMaxOffsetNs = std::int64_t{10} * 365 * 86'400 * 1'000 * kMs;  // ten years: no clock
constexpr std::size_t kMaxDifferences = 4096;                                         // of one pair

// Most clocks are right. Dumps hold Unix time, so where there are any they decide.
void centre(const std::vector<std::uint32_t>& members, std::vector<model::Clock>& clocks) {
  std::vector<std::int64_t> offsets;
  for (const bool dumps : {true, false}) {
    for (const auto m : members) {
      if ((clocks[m].file == model::FileId::kNone) == dumps) offsets.push_back(clocks[m].offset_ns);
    }
    if (!offsets.empty()) break;
  }
  std::sort(offsets.begin(), offsets.end());
  const auto middle = offsets[(offsets.size() - 1) / 2];
  for (const auto m : members) clocks[m].offset_ns -= middle;
}

}  // namespace

void ClockGraph::add(std::vector<Sighting> all) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.event, a.clock, a.ns) < std::tie(b.event, b.clock, b.ns);
  });
  for (std::size_t first = 0; first < all.size();) {
    const auto& reference = all[first];
    auto last = reference.clock;
    std::size_t i = first + 1;
    for (; i < all.size() && all[i].event == reference.event; ++i) {
      if (all[i].clock == last) continue;
      last = all[i].clock;
      auto& edge = edges_[{reference.clock, last}];
      // A measure with a narrower floor is not diluted by wider ones.
      if (edge.exact || (!edge.differences.empty() && edge.floor_ns < reference.floor_ns)) continue;
      if (edge.floor_ns > reference.floor_ns) edge.differences.clear();
      if (edge.differences.empty()) edge.a = reference, edge.b = all[i];
      edge.floor_ns = reference.floor_ns;
      if (edge.differences.size() < kMaxDifferences) edge.differences.push_back(all[i].ns - reference.ns);
    }
    first = i;
  }
}

void ClockGraph::tie(std::uint32_t a, std::uint32_t b, std::int64_t offset_ns, const Sighting& seen_a,
                     const Sighting& seen_b) {
  edges_[{a, b}] = {{offset_ns}, 0, seen_a, seen_b, true};
}

bool ClockGraph::measure(const Edge& edge, Step& out) {
  auto sorted = edge.differences;
  std::sort(sorted.begin(), sorted.end());
  const auto n = sorted.size();
  out.shared = static_cast<std::uint32_t>(n);
  out.offset_ns = sorted[n / 2];
  if (edge.exact) return true;
  // Half of what holds 80 % of the events; with few of them, all.
  const std::int64_t spread =
      n < kFewEvents ? sorted.back() - sorted.front() : (sorted[n - 1 - n / 10] - sorted[n / 10]) / 2;
  out.error_ns = std::max({spread, edge.floor_ns, n < kFewEvents ? kPollNs : kLeastErrorNs});
  if (std::abs(out.offset_ns) > kMaxOffsetNs) return false;
  return spread <= std::max(kMaxSpreadNs, edge.floor_ns);
}

std::map<std::uint32_t, std::vector<ClockGraph::Step>> ClockGraph::steps() const {
  std::map<std::uint32_t, std::vector<Step>> out;
  for (const auto& [pair, edge] : edges_) {
    Step step;
    if (!measure(edge, step)) continue;
    step.to = pair.second, step.seen = edge.b, step.seen_by_other = edge.a;
    out[pair.first].push_back(step);
    step.to = pair.first, step.offset_ns = -step.offset_ns;
    std::swap(step.seen, step.seen_by_other);
    out[pair.second].push_back(step);
  }
  return out;
}

void ClockGraph::solve(std::vector<model::Clock>& clocks) const {
  const auto steps_from = steps();
  std::uint32_t sets = 0;
  for (const auto& [start, unused] : steps_from) {
    if (clocks[start].set != 0) continue;
    const auto set = ++sets;
    std::vector<std::uint32_t> members;
    using Way = std::tuple<std::int64_t, std::uint32_t>;  // error, clock
    std::priority_queue<Way, std::vector<Way>, std::greater<>> queue;
    std::map<std::uint32_t, Step> reached;  // offset and error from `start`
    reached[start] = {};
    queue.emplace(0, start);
    while (!queue.empty()) {
      const auto [error, from] = queue.top();
      queue.pop();
      auto& clock = clocks[from];
      if (clock.set != 0) continue;
      const auto& way = reached[from];
      clock.set = set, clock.offset_ns = way.offset_ns, clock.error_ns = way.error_ns, clock.shared = way.shared;
      clock.example = way.seen.at, clock.example_ns = way.seen.ns;
      clock.other_example = way.seen_by_other.at, clock.other_ns = way.seen_by_other.ns;
      clock.other = way.seen_by_other.clock;
      members.push_back(from);
      for (auto step : steps_from.at(from)) {
        step.offset_ns += way.offset_ns, step.error_ns += way.error_ns;
        if (std::abs(step.offset_ns) > kMaxOffsetNs) continue;
        const auto known = reached.find(step.to);
        if (clocks[step.to].set != 0 || (known != reached.end() && known->second.error_ns <= step.error_ns)) continue;
        reached[step.to] = step;
        queue.emplace(step.error_ns, step.to);
      }
    }
    // The start was measured too: by its first neighbour.
    auto& first = clocks[start];
    const auto& back = steps_from.at(start).front();
    first.shared = back.shared, first.other = back.to;
    first.example = back.seen_by_other.at, first.example_ns = back.seen_by_other.ns;
    first.other_example = back.seen.at, first.other_ns = back.seen.ns;
    if (back.error_ns > model::kUnalignedNs) first.error_ns = model::kUnalignedNs / 2;
    centre(members, clocks);
  }
}

}  // namespace holter::evidence
