// SPDX-License-Identifier: Apache-2.0
#include "report/export_flows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/strings.h"

namespace holter::report {

namespace {

using model::FrEntry;

class Finder {
 public:
  Finder(const model::Evidence& ev, const hang::CallState& calls)
      : ev_(ev), calls_(calls), offsets_(entry_offsets(ev)) {}

  std::unordered_map<std::size_t, Flow> run() {
    newest_collectives();
    sends();
    return std::move(out_);
  }

 private:
  bool usable(std::size_t i) const {
    return calls_.entry_group[i] != hang::CallState::kNoGroup && begin_of(ev_.entries[i]) > 0;
  }
  std::int64_t job_begin(std::size_t i) const { return model::without_offset(begin_of(ev_.entries[i]), offsets_[i]); }
  bool is_collective(std::size_t i) const {
    return usable(i) && !ev_.entries[i].is_p2p && ev_.entries[i].collective_seq >= 0;
  }

  void newest_collectives() {
    std::vector<std::int64_t> newest(calls_.groups.size(), -1);
    for (std::size_t i = 0; i < ev_.entries.size(); ++i) {
      if (is_collective(i))
        newest[calls_.entry_group[i]] = std::max(newest[calls_.entry_group[i]], ev_.entries[i].collective_seq);
    }
    std::map<std::uint32_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < ev_.entries.size(); ++i) {
      if (is_collective(i) && ev_.entries[i].collective_seq == newest[calls_.entry_group[i]])
        members[calls_.entry_group[i]].push_back(i);
    }
    for (auto& [group, list] : members) {
      std::stable_sort(list.begin(), list.end(), [&](auto a, auto b) { return job_begin(a) < job_begin(b); });
      join(list);
    }
  }

  // "send 0->3" of rank 0 and "recv 3<-0" of rank 3 number the ranks of the group.
  struct Pair {
    std::uint32_t group = 0;
    std::int32_t from = -1, to = -1;
    auto operator<=>(const Pair&) const = default;
  };
  std::optional<Pair> pair_of(std::size_t i) const {
    const auto op = ev_.text(ev_.entries[i].op);
    const bool send = op.starts_with("send "), receive = op.starts_with("recv ");
    const auto arrow = op.find(send ? "->" : "<-");
    if ((!send && !receive) || arrow == std::string_view::npos) return std::nullopt;
    const auto self = base::to_int<std::int32_t>(op.substr(5, arrow - 5));
    const auto peer = base::to_int<std::int32_t>(op.substr(arrow + 2));
    if (!self || !peer) return std::nullopt;
    return send ? Pair{calls_.entry_group[i], *self, *peer} : Pair{calls_.entry_group[i], *peer, *self};
  }

  // The n-th send of a pair is the n-th receive, which can be counted only from the first call on.
  void sends() {
    std::map<std::tuple<Pair, std::size_t>, std::size_t> sent;
    std::map<std::tuple<Pair, std::size_t>, std::size_t> received;
    for (const auto& d : ev_.dumps) {
      if (d.entry_count == 0 || d.truncated || ev_.entries[d.first_entry].record_id != 0) continue;
      std::map<std::tuple<Pair, bool>, std::size_t> counts;
      for (std::size_t i = d.first_entry; i < d.first_entry + d.entry_count; ++i) {
        if (!usable(i) || sent.size() + received.size() >= 2 * kMaxFlows) continue;
        const auto pair = pair_of(i);
        if (!pair) continue;
        const bool send = ev_.text(ev_.entries[i].op).starts_with("send ");
        (send ? sent : received).emplace(std::tuple(*pair, counts[{*pair, send}]++), i);
      }
    }
    for (const auto& [key, from] : sent) {
      const auto to = received.find(key);
      if (to != received.end()) join({from, to->second});
    }
  }

  void join(const std::vector<std::size_t>& entries) {
    if (entries.size() < 2 || out_.size() + entries.size() > kMaxFlows) return;
    const auto id = ++last_id_;
    for (const auto i : entries) out_[i] = {id, FlowStep::kOn};
    out_[entries.front()].step = FlowStep::kBegin;
    out_[entries.back()].step = FlowStep::kEnd;
  }

  const model::Evidence& ev_;
  const hang::CallState& calls_;
  const std::vector<std::int64_t> offsets_;
  std::unordered_map<std::size_t, Flow> out_;
  std::uint32_t last_id_ = 0;
};

}  // namespace

std::vector<std::int64_t> entry_offsets(const model::Evidence& evidence) {
  std::vector<std::int64_t> out(evidence.entries.size(), 0);
  for (const auto& d : evidence.dumps) {
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(d.first_entry);
    std::fill_n(first, d.entry_count, evidence.clocks[d.clock].offset_ns);
  }
  return out;
}

std::unordered_map<std::size_t, Flow> find_flows(const model::Evidence& evidence, const hang::CallState& calls) {
  return Finder(evidence, calls).run();
}

}  // namespace holter::report
