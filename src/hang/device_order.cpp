// SPDX-License-Identifier: Apache-2.0
#include "hang/device_order.h"

#include <map>
#include <tuple>
#include <utility>

namespace holter::hang {

namespace {

// Groups and sequence numbers of two calls, the smaller group first.
using Pair = std::tuple<std::uint32_t, std::int64_t, std::uint32_t, std::int64_t>;

struct Sides {
  Call first, second;
  std::vector<std::int32_t> first_side, second_side;
  int first_issued_first = 0, second_issued_first = 0;  // ranks by the order on the host
};

std::vector<const Call*> oldest_by_group(const RankCalls& rank) {
  std::map<std::uint32_t, const Call*> oldest;
  for (const auto& call : rank.pending) {
    if (!call.p2p) oldest.try_emplace(call.group, &call);
  }
  std::vector<const Call*> out;
  for (const auto& [group, call] : oldest) out.push_back(call);
  return out;
}

bool all_entered(const Group& group, std::int64_t seq) {
  for (const auto& [rank, progress] : group.progress) {
    if (progress.known && (progress.entered < seq || progress.completed >= seq)) return false;
  }
  return true;
}

void note(const Call& a, const Call& b, std::map<Pair, Sides>& pairs) {
  auto& sides = pairs[{a.group, a.seq, b.group, b.seq}];
  if (sides.first_side.empty() && sides.second_side.empty()) sides.first = a, sides.second = b;
  (a.started ? sides.first_side : sides.second_side).push_back(a.rank);
  (a.order < b.order ? sides.first_issued_first : sides.second_issued_first)++;
}

}  // namespace

model::RankSet DeviceCrossing::minority() const {
  if (first_side.size() < second_side.size()) return first_side;
  if (second_side.size() < first_side.size()) return second_side;
  return first_side | second_side;
}

std::vector<DeviceCrossing> find_device_crossings(const CallState& calls) {
  std::map<Pair, Sides> pairs;
  for (const auto& [rank, state] : calls.ranks) {
    const auto oldest = oldest_by_group(state);
    for (std::size_t i = 0; i < oldest.size(); ++i) {
      for (std::size_t k = i + 1; k < oldest.size(); ++k) {
        if (oldest[i]->started != oldest[k]->started) note(*oldest[i], *oldest[k], pairs);
      }
    }
  }
  std::vector<DeviceCrossing> out;
  for (auto& [key, s] : pairs) {
    if (s.first_side.empty() || s.second_side.empty()) continue;
    // Hosts that issue in different orders are another fault, which the wait-for graph shows.
    if (s.first_issued_first > 0 && s.second_issued_first > 0) continue;
    if (!all_entered(calls.groups[s.first.group], s.first.seq)) continue;
    if (!all_entered(calls.groups[s.second.group], s.second.seq)) continue;
    out.push_back({std::move(s.first), std::move(s.second), model::RankSet::of(std::move(s.first_side)),
                   model::RankSet::of(std::move(s.second_side))});
  }
  return out;
}

}  // namespace holter::hang
