// SPDX-License-Identifier: Apache-2.0
#include "fault.h"

#include <algorithm>
#include <functional>
#include <map>

namespace holter::generate {

namespace {

using Program = std::vector<Op>;

class Injector {
 public:
  Injector(Job& job, Rng& rng)
      : job_(job), rng_(rng), rank_(static_cast<std::int32_t>(pick(rng, job.programs.size()))) {}

  std::optional<Truth> healthy() { return truth("no_fault", "none", {}); }

  std::optional<Truth> host_stuck() {
    stop(middle([](const Op&) { return true; }));
    return truth("host_stuck", "host", {rank_});
  }

  std::optional<Truth> crashed() {
    stop(middle([](const Op&) { return true; }));
    auto t = truth("rank_crashed", "host", {rank_});
    t->crashed = {rank_};
    return t;
  }

  std::optional<Truth> never_joined() {
    stop(pick(rng_, 2));
    return truth("rank_never_joined", "host", {rank_});
  }

  // A kernel hangs inside a collective whose other members finish.
  std::optional<Truth> device_stuck() {
    return at([&](const Op& op) { return !op.is_p2p() && op.blocking && size(op) > 1; },
              [&](Program& p, std::size_t i) { p[i].stuck_inside = true; }, "device_kernel_stuck", "device");
  }

  std::optional<Truth> data_path_stall() {
    auto t = at([&](const Op& op) { return !op.is_p2p() && op.blocking && size(op) > 2; },
                [&](Program& p, std::size_t i) { p[i].lost = true; }, "data_path_stall", "stall");
    if (t) t->culprits.clear();
    return t;
  }

  std::optional<Truth> shape_mismatch() {
    return at([&](const Op& op) { return op.kind == OpKind::kAllReduce && size(op) > 2; },
              [](Program& p, std::size_t i) { p[i].elements += 2; }, "collective_shape_mismatch", "mismatch");
  }

  std::optional<Truth> divergent_flow() {
    return at([&](const Op& op) { return op.kind == OpKind::kAllReduce && size(op) > 2; },
              [](Program& p, std::size_t i) { p[i].kind = OpKind::kBroadcast; }, "rank_divergent_control_flow",
              "mismatch");
  }

  // Two calls of one group in the other order.
  std::optional<Truth> order_mismatch() {
    return at([&](const Op& op) { return op.kind == OpKind::kAllReduce && op.group == 0; },
              [](Program& p, std::size_t i) {
                std::swap(p[i].kind, p[i + 1].kind);
                std::swap(p[i].elements, p[i + 1].elements);
              },
              "collective_order_mismatch", "mismatch",
              [](const Op& a, const Op& b) { return a.group == b.group && a.kind != b.kind; });
  }

  // Conditional experts fetch parameters in another order: same operation, sizes swapped.
  std::optional<Truth> moe_order() {
    return at(
        [&](const Op& op) { return op.kind == OpKind::kAllGather && size(op) > 2; },
        [](Program& p, std::size_t i) { std::swap(p[i].elements, p[i + 1].elements); }, "moe_zero3_order", "mismatch",
        [](const Op& a, const Op& b) { return a.group == b.group && a.kind == b.kind && a.elements != b.elements; });
  }

  // Two groups that share members, used in the other order by one rank.
  std::optional<Truth> multi_pg_order() {
    return at([&](const Op& op) { return !op.is_p2p() && size(op) > 2; },
              [](Program& p, std::size_t i) {
                p[i].sync = p[i + 1].sync = false;
                std::swap(p[i], p[i + 1]);
              },
              "multi_pg_order", "cycle",
              [&](const Op& a, const Op& b) {
                return !b.is_p2p() && b.blocking && a.blocking && a.group != b.group && shares_two(a.group, b.group);
              });
  }

  std::optional<Truth> p2p_unmatched() {
    return at([](const Op& op) { return op.kind == OpKind::kSend; },
              [](Program& p, std::size_t i) { p.erase(p.begin() + static_cast<std::ptrdiff_t>(i)); }, "p2p_unmatched",
              "mismatch");
  }

  // Two neighbours exchange, both send first on the stream of their pair.
  std::optional<Truth> p2p_cycle() {
    const auto i = middle([](const Op& op) { return op.kind == OpKind::kSend; });
    if (i >= program().size() || program()[i].kind != OpKind::kSend) return std::nullopt;
    const auto send = program()[i];
    const auto own = job_.index_in(send.group, rank_);
    const auto peer = job_.groups[send.group].ranks[static_cast<std::size_t>(send.peer)];
    auto& theirs = job_.programs[static_cast<std::size_t>(peer)];
    // The matching receive of the peer, found by its place in the stream of the pair.
    const auto nth = std::count_if(
        program().begin(), program().begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Op& op) { return op.kind == OpKind::kSend && op.group == send.group && op.peer == send.peer; });
    std::ptrdiff_t seen = 0;
    for (std::size_t k = 0; k < theirs.size(); ++k) {
      if (theirs[k].kind != OpKind::kRecv || theirs[k].group != send.group || theirs[k].peer != own || seen++ != nth)
        continue;
      insert_exchange(program(), i + 1, send.group, send.peer, send.step);
      insert_exchange(theirs, k + 1, send.group, own, send.step);
      auto t = truth("p2p_cycle", "cycle", {rank_, peer});
      std::sort(t->culprits.begin(), t->culprits.end());
      return t;
    }
    return std::nullopt;
  }

  std::optional<Truth> rank0_only() {
    rank_ = 0;
    return at([](const Op& op) { return op.group == 0 && op.kind == OpKind::kBroadcast; },
              [](Program& p, std::size_t i) {
                auto extra = p[i];
                extra.kind = OpKind::kBarrier;
                extra.elements = 1;
                extra.sync = true;
                p.insert(p.begin() + static_cast<std::ptrdiff_t>(i) + 1, extra);
              },
              "rank0_only_collective", "mismatch");
  }

  // All ranks of one replica have a step less and go to the final barrier.
  std::optional<Truth> uneven_inputs() {
    const auto model = job_.group_of(rank_, "MODEL_PARALLEL_GROUP");
    const auto replica = job_.groups[model].ranks;
    if (job_.shape.data() < 3) return std::nullopt;
    for (std::size_t r = 0; r < job_.programs.size(); ++r) {
      auto& p = job_.programs[r];
      const auto last = p.back().step;
      auto barrier = p.front();
      barrier.group = 0;
      barrier.kind = OpKind::kBarrier;
      barrier.elements = 1;
      barrier.peer = -1;
      barrier.sync = true;
      barrier.step = last;
      const bool short_one = std::find(replica.begin(), replica.end(), static_cast<std::int32_t>(r)) != replica.end();
      if (short_one) std::erase_if(p, [&](const Op& op) { return op.step == last; });
      p.push_back(barrier);
    }
    return truth("uneven_inputs", "mismatch", replica);
  }

 private:
  Program& program() { return job_.programs[static_cast<std::size_t>(rank_)]; }
  std::size_t size(const Op& op) const { return job_.groups[op.group].ranks.size(); }
  void stop(std::size_t i) { job_.stop_before[static_cast<std::size_t>(rank_)] = static_cast<std::int64_t>(i); }

  bool shares_two(std::uint32_t a, std::uint32_t b) const {
    const auto& x = job_.groups[a].ranks;
    const auto& y = job_.groups[b].ranks;
    return std::count_if(x.begin(), x.end(), [&](auto r) { return std::find(y.begin(), y.end(), r) != y.end(); }) >= 2;
  }

  // An operation of the last third that fits, by chance; the size of the program when there is none.
  std::size_t middle(const std::function<bool(const Op&)>& fits, double from = 0.6) {
    std::vector<std::size_t> found;
    const auto& p = program();
    for (auto i = static_cast<std::size_t>(from * static_cast<double>(p.size())); i + 8 < p.size(); ++i) {
      if (fits(p[i])) found.push_back(i);
    }
    return found.empty() ? p.size() : found[pick(rng_, found.size())];
  }

  // Tries ranks until one has a place that fits (and whose next operation fits as well).
  std::optional<Truth> at(const std::function<bool(const Op&)>& fits,
                          const std::function<void(Program&, std::size_t)>& change, const char* cause,
                          const char* where, const std::function<bool(const Op&, const Op&)>& next_fits = nullptr) {
    for (int attempt = 0; attempt < 50; ++attempt) {
      const auto i = middle(fits);
      if (i < program().size() && (!next_fits || next_fits(program()[i], program()[i + 1]))) {
        change(program(), i);
        return truth(cause, where, {rank_});
      }
      rank_ = static_cast<std::int32_t>(pick(rng_, job_.programs.size()));
    }
    return std::nullopt;
  }

  void insert_exchange(Program& p, std::size_t at, std::uint32_t group, std::int32_t peer, std::int32_t step) {
    Op send;
    send.group = group;
    send.kind = OpKind::kSend;
    send.peer = peer;
    send.elements = 1U << 16;
    send.blocking = false;
    send.step = step;
    auto receive = send;
    receive.kind = OpKind::kRecv;
    receive.blocking = true;
    p.insert(p.begin() + static_cast<std::ptrdiff_t>(at), {send, receive});
  }

  std::optional<Truth> truth(const char* cause, const char* where, std::vector<std::int32_t> culprits) const {
    Truth t;
    t.cause = cause;
    t.where = where;
    t.culprits = std::move(culprits);
    return t;
  }

  Job& job_;
  Rng& rng_;
  std::int32_t rank_;
};

using Make = std::optional<Truth> (Injector::*)();
const std::vector<std::pair<std::string, Make>>& table() {
  static const std::vector<std::pair<std::string, Make>> kTable{
      {"healthy", &Injector::healthy},
      {"host_stuck", &Injector::host_stuck},
      {"device_stuck", &Injector::device_stuck},
      {"shape_mismatch", &Injector::shape_mismatch},
      {"order_mismatch", &Injector::order_mismatch},
      {"divergent_flow", &Injector::divergent_flow},
      {"multi_pg_order", &Injector::multi_pg_order},
      {"moe_order", &Injector::moe_order},
      {"p2p_unmatched", &Injector::p2p_unmatched},
      {"p2p_cycle", &Injector::p2p_cycle},
      {"rank0_only", &Injector::rank0_only},
      {"uneven_inputs", &Injector::uneven_inputs},
      {"never_joined", &Injector::never_joined},
      {"crashed", &Injector::crashed},
      {"data_path_stall", &Injector::data_path_stall},
  };
  return kTable;
}

}  // namespace

const std::vector<std::string>& faults() {
  static const auto kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, make] : table()) names.push_back(name);
    return names;
  }();
  return kNames;
}

std::optional<Truth> put_fault(Job& job, const std::string& kind, Rng& rng) {
  for (const auto& [name, make] : table()) {
    if (name != kind) continue;
    Injector injector(job, rng);
    auto truth = (injector.*make)();
    if (truth) truth->kind = kind;
    return truth;
  }
  return std::nullopt;
}

}  // namespace holter::generate
