// SPDX-License-Identifier: Apache-2.0
#include "hang/topology.h"

#include <algorithm>

#include <fmt/format.h>

namespace holter::hang {

namespace {

constexpr std::size_t kMaxEdges = 20'000;  // of one communicator in a report

struct Process {
  std::string host;
  std::int32_t pid;
  std::string pointer;
  auto operator<=>(const Process&) const = default;
};

class Restorer {
 public:
  explicit Restorer(const model::Evidence& ev) : ev_(ev) {}

  std::vector<CommTopology> run() {
    for (const auto& c : ev_.nccl.comms) add_comm(c);
    for (const auto& r : ev_.nccl.rings) add_ring(r);
    for (const auto& t : ev_.nccl.trees) add_tree(t);
    for (const auto& e : ev_.nccl.edges) add_edge(e);
    std::vector<CommTopology> out;
    for (auto& [id, t] : all_) out.push_back(std::move(t));
    return out;
  }

 private:
  void add_comm(const model::NcclComm& c) {
    if (c.nranks <= 0 || c.rank < 0) return;
    const auto printed = ev_.text(c.comm_id);
    const auto id = printed.empty() ? fmt::format("size {}", c.nranks) : std::string(printed);
    auto& t = all_[id];
    t.id = id;
    t.size = std::max(t.size, c.nranks);
    t.rank_of[{std::string(ev_.text(c.host)), c.pid}] = c.rank;
    comm_of_[{std::string(ev_.text(c.host)), c.pid, std::string(ev_.text(c.pointer))}] = id;
  }
  template <typename T>
  CommTopology* of(const T& item) {
    const auto it = comm_of_.find({std::string(ev_.text(item.host)), item.pid, std::string(ev_.text(item.comm))});
    return it == comm_of_.end() ? nullptr : &all_[it->second];
  }
  static Ring& ring(CommTopology& t, std::int32_t channel) {
    for (auto& r : t.rings) {
      if (r.channel == channel) return r;
    }
    t.rings.push_back({channel, {}});
    return t.rings.back();
  }
  void add_ring(const model::NcclRing& r) {
    auto* t = of(r);
    if (!t) return;
    auto& out = ring(*t, r.channel);
    for (std::size_t i = 0; i + 1 < r.order.size(); ++i) out.next[r.order[i]] = r.order[i + 1];
    if (!r.truncated && r.order.size() > 1) out.next[r.order.back()] = r.order.front();
    if (r.order.empty() && r.rank >= 0) {
      out.next[r.rank] = r.next;
      out.next[r.prev] = r.rank;
    }
  }
  void add_tree(const model::NcclTree& n) {
    auto* t = of(n);
    if (!t || n.rank < 0) return;
    const auto add = [&](std::int32_t child, std::int32_t parent) {
      if (child < 0 || parent < 0 || t->tree_edges.size() >= kMaxEdges) return;
      if (!seen_.insert({t->id, n.channel, child, parent}).second) return;
      t->tree_edges.push_back({.from = child, .to = parent, .kind = "tree", .channel = n.channel});
    };
    add(n.rank, n.up);
    for (const auto child : n.down) add(child, n.rank);
  }
  void add_edge(const model::NcclEdge& e) {
    if (auto* t = of(e)) t->via.emplace(std::pair{e.from, e.to}, ev_.text(e.via));
  }

  const model::Evidence& ev_;
  std::map<std::string, CommTopology> all_;
  std::map<Process, std::string> comm_of_;
  std::set<std::tuple<std::string, std::int32_t, std::int32_t, std::int32_t>> seen_;
};

std::string_view field(const model::Evidence& ev, const model::Event& e, std::string_view key) {
  for (const auto& [k, v] : e.fields) {
    if (ev.text(k) == key) return ev.text(v);
  }
  return {};
}

// Neighbours that an error of `rank` can mean. A failed send means the next rank; a failed receive the
// previous one; a connection that was closed either.
std::set<std::int32_t> meant(const model::Evidence& ev, const CommTopology& t, const model::Event& e,
                             std::int32_t rank) {
  std::set<std::int32_t> out;
  const auto call = field(ev, e, "call");
  for (const auto& ring : t.rings) {
    const auto next = ring.next.find(rank);
    if (call != "recv" && next != ring.next.end()) out.insert(next->second);
    if (const auto prev = ring.prev_of(rank); call != "send" && prev) out.insert(*prev);
  }
  return out;
}

}  // namespace

std::optional<std::int32_t> Ring::prev_of(std::int32_t rank) const {
  for (const auto& [from, to] : next) {
    if (to == rank) return from;
  }
  return std::nullopt;
}

std::vector<CommTopology> restore_topology(const model::Evidence& evidence) { return Restorer(evidence).run(); }

std::optional<LostPeer> find_lost_peer(const model::Evidence& ev, const CommTopology& t) {
  std::map<std::int32_t, std::set<std::int32_t>> means;  // erring rank -> ranks meant by all its errors
  std::map<std::int32_t, const model::Event*> first;
  for (const auto& e : ev.events) {
    const auto kind = ev.text(e.kind);
    if (kind != "nccl.socket_error" && kind != "nccl.ib_completion") continue;
    const auto process = t.rank_of.find({std::string(ev.text(e.node)), e.pid});
    if (process == t.rank_of.end()) continue;
    const auto rank = process->second;
    const auto now = meant(ev, t, e, rank);
    const auto [it, is_new] = means.emplace(rank, now);
    if (is_new) first[rank] = &e;
    else if (std::set<std::int32_t> both; !now.empty()) {
      std::set_intersection(it->second.begin(), it->second.end(), now.begin(), now.end(),
                            std::inserter(both, both.end()));
      if (!both.empty()) it->second = both;
    }
  }
  std::map<std::int32_t, LostPeer> votes;
  for (const auto& [rank, peers] : means) {
    for (const auto peer : peers) {
      if (means.contains(peer)) continue;  // it speaks: not the one that vanished
      auto& v = votes[peer];
      v.rank = peer;
      ++v.votes;
      v.errors.push_back(first[rank]);
      v.broken.emplace_back(rank, peer);
    }
  }
  const LostPeer* best = nullptr;
  bool tie = false;
  for (const auto& [rank, v] : votes) {
    if (!best || v.votes > best->votes) best = &v, tie = false;
    else if (v.votes == best->votes) tie = true;
  }
  if (!best || tie) return std::nullopt;
  return *best;
}

model::Topology to_report(const CommTopology& t, const std::set<std::pair<std::int32_t, std::int32_t>>& broken) {
  model::Topology out;
  out.communicator = t.id;
  std::set<std::int32_t> ranks;
  const auto add = [&](model::TopologyEdge e) {
    if (out.edges.size() >= kMaxEdges) return;
    if (const auto via = t.via.find({e.from, e.to}); via != t.via.end()) e.via = via->second;
    e.broken = broken.contains({e.from, e.to}) || broken.contains({e.to, e.from});
    ranks.insert(e.from), ranks.insert(e.to);
    out.edges.push_back(std::move(e));
  };
  for (const auto& ring : t.rings) {
    for (const auto& [from, to] : ring.next) add({.from = from, .to = to, .kind = "ring", .channel = ring.channel});
  }
  for (const auto& e : t.tree_edges) add(e);
  out.ranks.assign(ranks.begin(), ranks.end());
  return out;
}

}  // namespace holter::hang
