// SPDX-License-Identifier: Apache-2.0
#include "hang/waits.h"

#include <algorithm>
#include <map>
#include <set>

#include "hang/components.h"

namespace holter::hang {

namespace {

// One call that ranks wait in: what each member of its group does about it.
struct Node {
  std::uint32_t group = 0;
  std::int64_t seq = -1;
  bool p2p = false;
  Call sample;
  std::vector<std::int32_t> waiters;  // this is their oldest pending call
  std::vector<std::int32_t> late;     // known not to have entered
  std::vector<std::int32_t> busy;     // entered, but an older call of theirs is pending
  std::vector<std::int32_t> unknown;  // no evidence
  std::vector<std::int32_t> passed;   // finished it
};

class WaitBuilder {
 public:
  WaitBuilder(const model::Evidence& ev, const CallState& calls, const SemanticsTable& semantics)
      : ev_(ev), calls_(calls), semantics_(semantics) {}

  WaitGraph build() {
    make_nodes();
    make_graph();
    find_origins();
    find_silent();
    sort_origins();
    fold_edges();
    return std::move(out_);
  }

 private:
  // The oldest pending call, or all that can be it; empty when nothing pends.
  std::vector<Call> heads(std::int32_t rank) const {
    const auto found = calls_.ranks.find(rank);
    return found == calls_.ranks.end() ? std::vector<Call>() : found->second.heads();
  }
  bool waits(std::int32_t rank) const {
    const auto found = calls_.ranks.find(rank);
    return found != calls_.ranks.end() && (!found->second.pending.empty() || !found->second.unrecorded.empty());
  }
  bool whole(std::int32_t rank) const {
    const auto found = calls_.ranks.find(rank);
    return found != calls_.ranks.end() && found->second.known && !found->second.partial;
  }

  // --- nodes ---
  void make_nodes() {
    std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> index;
    for (const auto& [rank, r] : calls_.ranks) {
      const auto calls = r.heads();
      if (!calls.empty()) out_.waiting.insert(rank);
      if (calls.size() > 1) out_.unrecorded.insert(rank);
      for (const auto& c : calls) {
        if (c.p2p) {
          add_p2p(rank, c);
          continue;
        }
        const auto [it, is_new] = index.try_emplace({c.group, c.seq}, nodes_.size());
        if (is_new) nodes_.push_back({c.group, c.seq, false, c, {}, {}, {}, {}, {}});
        auto& node = nodes_[it->second];
        node.waiters.push_back(rank);
        if (node.sample.op == model::StrId::kEmpty) node.sample = c;
      }
    }
    for (auto& node : nodes_) {
      if (!node.p2p) fill_members(node);
    }
  }

  std::vector<std::int32_t> members(const Group& g) const {
    if (!g.ranks.empty()) return g.ranks;
    std::vector<std::int32_t> out;
    for (const auto& [rank, p] : g.progress) out.push_back(rank);
    return out;
  }

  void fill_members(Node& node) {
    const auto& g = calls_.groups[node.group];
    const std::set<std::int32_t> waiters(node.waiters.begin(), node.waiters.end());
    for (const auto m : members(g)) {
      if (waiters.contains(m)) continue;
      const auto found = g.progress.find(m);
      const Progress p = found == g.progress.end() ? Progress{} : found->second;
      const bool busy = waits(m);
      if (p.known && p.completed >= node.seq) node.passed.push_back(m);
      else if (p.known && p.entered >= node.seq) (busy ? node.busy : node.unknown).push_back(m);
      else if (p.known && p.exact) node.late.push_back(m);
      else if (busy && whole(m)) node.busy.push_back(m);  // waits elsewhere, whatever it did here
      else node.unknown.push_back(m);
    }
    // A member that left proves that every member had entered (not so for a rooted call).
    if (!node.passed.empty() && !semantics_.of(ev_.text(node.sample.op)).rooted) node.unknown.clear();
  }

  void add_p2p(std::int32_t rank, const Call& c) {
    Node node{c.group, c.seq, true, c, {rank}, {}, {}, {}, {}};
    if (c.peer < 0) {
      // Peer not recorded: nothing is known.
    } else if (!calls_.ranks.contains(c.peer) || !calls_.ranks.at(c.peer).known) {
      node.unknown.push_back(c.peer);
    } else if (waits(c.peer)) {
      const auto theirs = heads(c.peer);
      const bool answers = std::any_of(theirs.begin(), theirs.end(), [&](const Call& h) {
        return h.p2p && h.peer == rank && h.send != c.send && h.group == c.group;
      });
      (answers ? node.passed : node.busy).push_back(c.peer);
      if (answers) node.passed.clear();  // both posted: the transfer itself stalls
    } else if (whole(c.peer)) {
      node.late.push_back(c.peer);
    } else {
      node.unknown.push_back(c.peer);
    }
    nodes_.push_back(std::move(node));
  }

  // --- graph over ranks and nodes: rank -> its node -> late and busy members ---
  std::uint32_t vertex(std::int32_t rank) {
    const auto [it, is_new] = vertex_of_.try_emplace(rank, static_cast<std::uint32_t>(graph_.size()));
    if (is_new) graph_.emplace_back(), rank_of_.push_back(rank);
    return it->second;
  }
  void make_graph() {
    graph_.resize(nodes_.size());
    rank_of_.assign(nodes_.size(), -1);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      for (const auto w : nodes_[n].waiters) {
        const auto v = vertex(w);
        graph_[v].push_back(n);
      }
      for (const auto* list : {&nodes_[n].late, &nodes_[n].busy}) {
        for (const auto m : *list) {
          const auto v = vertex(m);
          graph_[n].push_back(v);
        }
      }
    }
    components_ = strong_components(graph_);
  }

  // --- origins ---
  void find_origins() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_component;
    for (std::uint32_t v = 0; v < graph_.size(); ++v) by_component[components_[v]].push_back(v);
    for (const auto& [component, vertices] : by_component) {
      if (!is_sink(component, vertices)) continue;
      if (vertices.size() > 1) add_cycle(vertices);
      else if (rank_of_[vertices[0]] >= 0) add_host(rank_of_[vertices[0]], vertices[0]);
      else add_sink_node(nodes_[vertices[0]], vertices[0]);
    }
    const bool decided = std::any_of(out_.origins.begin(), out_.origins.end(),
                                     [](const Origin& o) { return o.certain && o.kind != OriginKind::kStall; });
    if (decided) return;
    // A call waits for all of its members: a cycle is a deadlock whoever else is waited for.
    for (const auto& [component, vertices] : by_component) {
      if (vertices.size() > 1 && !is_sink(component, vertices)) add_cycle(vertices);
    }
  }
  bool is_sink(std::uint32_t component, const std::vector<std::uint32_t>& vertices) const {
    for (const auto v : vertices) {
      for (const auto to : graph_[v]) {
        if (components_[to] != component) return false;
      }
    }
    return true;
  }

  void add_host(std::int32_t rank, std::uint32_t v) {
    Origin o;
    o.kind = OriginKind::kHost;
    o.ranks = {rank};
    for (const auto& node : nodes_) {
      if (std::find(node.late.begin(), node.late.end(), rank) == node.late.end()) continue;
      o.groups.push_back(node.group);
      o.calls.push_back(node.sample);
      if (node.p2p) continue;
      const auto& p = calls_.groups[node.group].progress.at(rank);
      o.behind = std::max(o.behind, node.seq - p.entered);
      if (p.exact && p.entered <= 0 && node.seq <= 1) o.kind = OriginKind::kNeverJoined;
    }
    o.certain = whole(rank);
    o.victims = upstream(v);
    out_.origins.push_back(std::move(o));
  }

  // Nobody is late and nobody is busy elsewhere.
  void add_sink_node(const Node& node, std::uint32_t v) {
    if (!node.unknown.empty()) {
      silent_nodes_.push_back(&node);
      return;
    }
    Origin o;
    // Every member entered, and some finished: what is left hangs on the devices that did not.
    o.kind = node.passed.empty() ? OriginKind::kStall : OriginKind::kDevice;
    o.ranks = model::RankSet::of(node.waiters);
    if (node.p2p) o.ranks.insert(node.sample.peer < 0 ? node.waiters[0] : node.sample.peer);
    o.certain = (!node.p2p || node.sample.peer >= 0) && known_heads(o.ranks);
    // What the members called is not recorded any more: they may have called different things.
    for (const auto w : node.waiters) {
      if (o.kind != OriginKind::kStall || calls_.ranks.at(w).unrecorded.empty()) continue;
      out_.unrecorded.insert(w);
      o.certain = false;
    }
    o.groups = {node.group};
    o.calls = {node.sample};
    o.victims = upstream(v) - o.ranks;
    out_.origins.push_back(std::move(o));
  }

  bool known_heads(const model::RankSet& ranks) const { return (ranks & out_.unrecorded).empty(); }

  void add_cycle(const std::vector<std::uint32_t>& vertices) {
    std::vector<const Node*> calls;
    for (const auto v : vertices) {
      if (rank_of_[v] < 0) calls.push_back(&nodes_[v]);
    }
    const auto is_p2p = [](const Node* n) { return n->p2p; };
    const auto p2p = static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), is_p2p));
    Origin o;
    o.kind = p2p == calls.size() ? OriginKind::kP2pCycle
             : p2p > 0           ? OriginKind::kP2pUnmatched
                                 : OriginKind::kGroupCycle;
    std::set<std::int32_t> inside;
    for (const auto v : vertices) {
      if (rank_of_[v] >= 0) inside.insert(rank_of_[v]);
    }
    std::sort(calls.begin(), calls.end(),
              [](const Node* a, const Node* b) { return a->waiters.size() < b->waiters.size(); });
    for (const auto* n : calls) {
      o.groups.push_back(n->group);
      o.calls.push_back(n->sample);
    }
    if (const Node* alone = lone_call(calls)) {
      o.kind = OriginKind::kLoneCall;
      o.calls = {alone->sample};
      o.ranks = model::RankSet::of(alone->waiters);
    } else if (o.kind == OriginKind::kP2pCycle && all_receive(calls)) {
      o.kind = OriginKind::kP2pUnmatched;  // nobody sends: a send was left out
      o.ranks = odd_among_siblings(inside);
      o.side_known = !o.ranks.empty();
      if (!o.side_known) o.ranks = model::RankSet::of({inside.begin(), inside.end()});
    } else if (o.kind == OriginKind::kP2pUnmatched) {
      o.ranks = moved_on(calls);
      o.side_known = o.ranks.size() == 1;
    } else {
      o.ranks = cycle_culprits(calls, inside, o.kind);
    }
    o.certain = known_heads(model::RankSet::of({inside.begin(), inside.end()}));
    for (const auto v : vertices) o.victims = o.victims | upstream(v);
    o.victims = o.victims - o.ranks;
    out_.origins.push_back(std::move(o));
  }
  // A call that at most a quarter of its group entered, while all others are known not to have and
  // wait in several other calls: they went on without it.
  static const Node* lone_call(const std::vector<const Node*>& calls) {
    if (calls.size() < 3) return nullptr;
    for (const auto* n : calls) {
      const bool others_late = n->busy.empty() && n->passed.empty() && n->unknown.size() <= n->late.size();
      if (!n->p2p && others_late && n->late.size() >= 3 * n->waiters.size()) return n;
    }
    return nullptr;
  }
  static bool all_receive(const std::vector<const Node*>& calls) {
    return std::all_of(calls.begin(), calls.end(), [](const Node* n) { return n->p2p && !n->sample.send; });
  }

  // Ranks in the same place of sister groups (the same stage of other pipelines) make the same calls:
  // those that made another one at this sequence number. None when that shows nothing.
  model::RankSet odd_among_siblings(const std::set<std::int32_t>& inside) const {
    model::RankSet odd;
    for (const auto rank : inside) {
      const Call c = heads(rank).front();
      std::size_t same = 0, other = 0;
      for (std::size_t i = 0; i < ev_.entries.size(); ++i) {
        const auto& e = ev_.entries[i];
        if (!e.is_p2p || e.p2p_seq != c.seq || calls_.entry_rank[i] == rank) continue;
        if (!sister(c.group, rank, calls_.entry_group[i], calls_.entry_rank[i])) continue;
        (e.op == c.op ? same : other)++;
      }
      if (other > same) odd.insert(rank);
    }
    return odd;
  }
  bool sister(std::uint32_t group, std::int32_t rank, std::uint32_t other_group, std::int32_t other_rank) const {
    if (other_group == CallState::kNoGroup || other_group == group) return false;
    const auto& a = calls_.groups[group];
    const auto& b = calls_.groups[other_group];
    if (a.desc != b.desc || a.ranks.size() != b.ranks.size()) return false;
    const auto x = std::find(a.ranks.begin(), a.ranks.end(), rank) - a.ranks.begin();
    const auto y = std::find(b.ranks.begin(), b.ranks.end(), other_rank) - b.ranks.begin();
    return x == y;
  }

  // The peers of pending sends and receives that wait in a collective instead.
  model::RankSet moved_on(const std::vector<const Node*>& calls) const {
    model::RankSet out;
    for (const auto* n : calls) {
      if (!n->p2p || n->sample.peer < 0) continue;
      const auto theirs = heads(n->sample.peer);
      if (!theirs.empty() && !theirs.front().p2p) out.insert(n->sample.peer);
    }
    return out;
  }
  // The side with the fewest ranks, when one is smaller than all others; else everyone in the cycle.
  model::RankSet cycle_culprits(const std::vector<const Node*>& calls, const std::set<std::int32_t>& inside,
                                OriginKind kind) const {
    model::RankSet all = model::RankSet::of({inside.begin(), inside.end()});
    if (kind == OriginKind::kP2pCycle || calls.size() < 2) return all;
    // Only ranks that somebody in the cycle waits for count: the rest are victims on either side.
    std::vector<model::RankSet> sides;
    for (const auto* n : calls) {
      const auto side = model::RankSet::of(n->waiters) & all;
      if (!side.empty()) sides.push_back(side);
    }
    std::sort(sides.begin(), sides.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return sides.size() > 1 && sides[0].size() < sides[1].size() ? sides[0] : all;
  }

  model::RankSet upstream(std::uint32_t target) {
    if (reverse_.empty()) {
      reverse_.resize(graph_.size());
      for (std::uint32_t v = 0; v < graph_.size(); ++v) {
        for (const auto to : graph_[v]) reverse_[to].push_back(v);
      }
    }
    std::vector<bool> seen(graph_.size());
    std::vector<std::uint32_t> stack{target};
    std::vector<std::int32_t> ranks;
    seen[target] = true;
    while (!stack.empty()) {
      const auto v = stack.back();
      stack.pop_back();
      for (const auto from : reverse_[v]) {
        if (seen[from]) continue;
        seen[from] = true;
        if (rank_of_[from] >= 0) ranks.push_back(rank_of_[from]);
        stack.push_back(from);
      }
    }
    return model::RankSet::of(std::move(ranks));
  }

  // --- ranks without evidence ---
  void find_silent() {
    for (const auto& node : nodes_) {
      for (const auto m : node.unknown) out_.silent.insert(m);
    }
    if (silent_nodes_.empty()) return;
    // The silent ranks that every unexplained chain of waiting could end at.
    model::RankSet common = model::RankSet::of(silent_nodes_[0]->unknown);
    Origin o;
    o.kind = OriginKind::kSilent;
    for (const auto* node : silent_nodes_) {
      const auto here = model::RankSet::of(node->unknown);
      const auto both = common & here;
      common = both.empty() ? common | here : both;
      o.groups.push_back(node->group);
      o.calls.push_back(node->sample);
      o.victims = o.victims | model::RankSet::of(node->waiters);
    }
    o.ranks = common;
    o.certain = false;
    out_.origins.push_back(std::move(o));
  }

  void sort_origins() {
    const auto weight = [](const Origin& o) {
      const int kind = o.kind == OriginKind::kSilent ? 2 : o.kind == OriginKind::kStall ? 1 : 0;
      return std::make_tuple(kind, !o.certain, -static_cast<std::int64_t>(o.victims.size()));
    };
    std::stable_sort(out_.origins.begin(), out_.origins.end(),
                     [&](const Origin& a, const Origin& b) { return weight(a) < weight(b); });
  }

  void fold_edges() {
    constexpr std::size_t kMaxEdges = 200;
    model::RankSet origins;
    for (const auto& o : out_.origins) origins = origins | o.ranks;
    for (const auto& node : nodes_) {
      if (out_.edges.size() >= kMaxEdges) break;
      auto waited = node.late;
      waited.insert(waited.end(), node.busy.begin(), node.busy.end());
      waited.insert(waited.end(), node.unknown.begin(), node.unknown.end());
      model::WaitEdge e;
      e.waiters = model::RankSet::of(node.waiters);
      e.waited = model::RankSet::of(std::move(waited));
      const bool stalled = e.waited.empty() && (!node.p2p || node.sample.peer >= 0);
      e.group = calls_.groups[node.group].label();
      e.op = ev_.text(node.sample.op);
      e.seq = node.seq;
      e.origin = !(e.waited & origins).empty() || (e.waited.empty() && !(e.waiters & origins).empty());
      if (stalled) e.waited = node.p2p ? model::RankSet{node.sample.peer} : e.waiters;  // all members are in it
      out_.edges.push_back(std::move(e));
    }
  }

  const model::Evidence& ev_;
  const CallState& calls_;
  const SemanticsTable& semantics_;
  WaitGraph out_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> graph_;  // nodes first, then ranks
  std::vector<std::vector<std::uint32_t>> reverse_;
  std::vector<std::int32_t> rank_of_;  // -1 for a node
  std::map<std::int32_t, std::uint32_t> vertex_of_;
  std::vector<std::uint32_t> components_;
  std::vector<const Node*> silent_nodes_;
};

}  // namespace

WaitGraph build_waits(const model::Evidence& evidence, const CallState& calls, const Job&,
                      const SemanticsTable& semantics) {
  return WaitBuilder(evidence, calls, semantics).build();
}

}  // namespace holter::hang
