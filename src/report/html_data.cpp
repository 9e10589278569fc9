// SPDX-License-Identifier: Apache-2.0
// The data that the page's scripts draw. Ranks that make the same calls become one lane; times of
// single ranks follow while they fit kCallBudget, so that a report of 16,384 ranks still opens.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/html.h"
#include "report/json_out.h"

namespace holter::report {

namespace {

constexpr std::size_t kCallBudget = 250'000;  // calls of single ranks in the page
constexpr std::size_t kLaneBudget = 2'000;
constexpr std::size_t kCallsPerLane = 2'000;  // the latest ones
constexpr std::size_t kNodeBudget = 20'000;
constexpr std::size_t kEdgeBudget = 40'000;

// "41 TENSOR_MODEL_PARALLEL_GROUP" and "42 TENSOR_..." play one role: a lane folds over both.
std::string_view role_of(std::string_view group) {
  const auto start = group.find_first_not_of("0123456789 ");
  return start == std::string_view::npos ? group : group.substr(start);
}

class Names {
 public:
  std::int64_t id(std::string_view name) {
    const auto [it, fresh] = ids_.emplace(std::string(name), ids_.size());
    if (fresh) list_.push_back(one_line(name));
    return static_cast<std::int64_t>(it->second);
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, std::size_t, std::less<>> ids_;
  std::vector<std::string> list_;
};

struct Lane {
  std::vector<std::int32_t> ranks;
  std::vector<std::vector<const model::CallSpan*>> calls;  // by rank, in order
};

class Calls {
 public:
  explicit Calls(const model::Report& r) : r_(r) {
    std::map<std::int32_t, std::vector<const model::CallSpan*>> by_rank;
    for (const auto& c : r.calls) {
      by_rank[c.rank].push_back(&c);
      timed_ = timed_ && c.start_ns != 0;
      if (c.start_ns != 0 && (first_ns_ == 0 || c.start_ns < first_ns_)) first_ns_ = c.start_ns;
      last_ns_ = std::max({last_ns_, c.start_ns, c.end_ns});
    }
    std::map<std::string, std::size_t> index;
    for (auto& [rank, calls] : by_rank) {
      if (calls.size() > kCallsPerLane) calls.erase(calls.begin(), calls.end() - kCallsPerLane);
      const auto [it, fresh] = index.emplace(behaviour(calls), lanes_.size());
      if (fresh) lanes_.emplace_back();
      lanes_[it->second].ranks.push_back(rank);
      lanes_[it->second].calls.push_back(std::move(calls));
    }
    // The few that differ first: among them is the culprit.
    std::stable_sort(lanes_.begin(), lanes_.end(),
                     [](const Lane& a, const Lane& b) { return a.ranks.size() < b.ranks.size(); });
  }

  void write(JsonOut& out) {
    std::size_t budget = kCallBudget;
    const std::size_t shown = std::min(lanes_.size(), kLaneBudget);
    out.object("calls", [&] {
      out.key("timed"), out.flag(timed_);
      out.field("t0", std::to_string(first_ns_));  // text: JavaScript numbers cannot hold it
      out.field("span", (last_ns_ - first_ns_) / 1000);
      out.field("without", r_.ranks_without_calls.to_string());
      out.field("more", static_cast<std::int64_t>(lanes_.size() - shown));
      lanes_.resize(shown);
      out.array("lanes", lanes_, [&](const Lane& lane) { write_lane(out, lane, budget); }, true);
      out.texts("names", names_.list());
    });
  }

 private:
  std::string behaviour(const std::vector<const model::CallSpan*>& calls) const {
    std::string key;
    for (const auto* c : calls)
      fmt::format_to(std::back_inserter(key), "{}\x1f{}\x1f{}\x1f{}\x1e", role_of(c->group), c->op, c->seq, c->state);
    return key;
  }
  // Microseconds after the first call; -1 unknown.
  std::int64_t us(std::int64_t ns) const { return ns == 0 ? -1 : (ns - first_ns_) / 1000; }

  // Per call: role, operation, sequence, state, then earliest and latest start and end over the ranks.
  void write_lane(JsonOut& out, const Lane& lane, std::size_t& budget) {
    out.object([&] {
      out.field("ranks", model::RankSet::of(lane.ranks).to_string());
      std::vector<std::int64_t> flat;
      for (std::size_t k = 0; k < lane.calls[0].size(); ++k) {
        const auto& c = *lane.calls[0][k];
        std::int64_t start[2] = {us(c.start_ns), us(c.start_ns)}, end[2] = {us(c.end_ns), us(c.end_ns)};
        for (const auto& calls : lane.calls) {
          const std::int64_t s = us(calls[k]->start_ns), e = us(calls[k]->end_ns);
          start[0] = std::min(start[0], s), start[1] = std::max(start[1], s);
          end[0] = std::min(end[0], e), end[1] = std::max(end[1], e);
        }
        flat.insert(flat.end(), {names_.id(role_of(c.group)), names_.id(c.op), c.seq, names_.id(c.state), start[0],
                                 start[1], end[0], end[1]});
      }
      out.array("calls", flat, [&](std::int64_t v) { out.number(v); }, true);
      const std::size_t cost = lane.ranks.size() * lane.calls[0].size();
      if (lane.ranks.size() < 2 || cost > budget) return;
      budget -= cost;
      std::vector<std::int64_t> times;
      for (const auto& calls : lane.calls) {
        for (const auto* c : calls) times.push_back(us(c->start_ns)), times.push_back(us(c->end_ns));
      }
      out.array("times", times, [&](std::int64_t v) { out.number(v); });
    });
  }

  const model::Report& r_;
  std::vector<Lane> lanes_;
  Names names_;
  bool timed_ = true;
  std::int64_t first_ns_ = 0, last_ns_ = 0;
};

void write_stacks(JsonOut& out, const model::Report& r) {
  const auto& all = r.stacks.nodes;
  const std::vector<model::StackNode> cut(all.begin(),
                                          all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kNodeBudget)));
  out.array("stacks", cut, [&](const model::StackNode& n) {
    out.object([&] {
      out.field("f", n.frame.empty() ? "(no name)" : one_line(n.frame));
      out.field("r", n.ranks.to_string());
      out.field("n", static_cast<std::int64_t>(n.ranks.empty() ? n.samples : n.ranks.size()));
      out.array("c", n.children, [&](auto child) { out.number(child); });
      if (n.fork) out.field("k", std::int64_t{1});
      if (n.minority) out.field("m", std::int64_t{1});
    });
  });
}

// One ring of each communicator: the one with a broken edge, else the first.
void write_rings(JsonOut& out, const model::Report& r) {
  std::size_t budget = kEdgeBudget;
  out.array("rings", r.topology, [&](const model::Topology& t) {
    const auto is_ring = [](const model::TopologyEdge& e) { return e.kind == "ring"; };
    auto chosen = std::find_if(t.edges.begin(), t.edges.end(), [&](const auto& e) { return is_ring(e) && e.broken; });
    if (chosen == t.edges.end()) chosen = std::find_if(t.edges.begin(), t.edges.end(), is_ring);
    std::vector<std::int64_t> flat;
    for (const auto& e : t.edges) {
      if (chosen == t.edges.end() || budget == 0 || !is_ring(e) || e.channel != chosen->channel) continue;
      --budget;
      flat.insert(flat.end(), {e.from, e.to, e.broken ? 1 : 0});
    }
    out.object([&] {
      out.field("name", one_line(t.communicator));
      out.field("channel", std::int64_t{chosen == t.edges.end() ? -1 : chosen->channel});
      out.array("edges", flat, [&](std::int64_t v) { out.number(v); });
    });
  });
}

}  // namespace

std::string html_data(const model::Report& r) {
  JsonOut out;
  std::vector<std::int32_t> culprits;
  if (!r.findings.empty()) {
    for (const auto& c : r.findings.front().culprits) {
      if (c.rank) culprits.push_back(*c.rank);
    }
  }
  out.object([&] {
    out.field("culprits", model::RankSet::of(culprits).to_string());
    out.field("waiting", r.impact.waiting.to_string());
    out.field("missing", r.job.missing_ranks.to_string());
    std::int64_t error = 0;
    for (const auto& e : r.timeline) error = std::max(error, e.error_ns / 1000);
    out.field("error", error);
    if (!r.calls.empty()) Calls(r).write(out);
    write_stacks(out, r);
    write_rings(out, r);
  });
  return out.take();
}

}  // namespace holter::report
