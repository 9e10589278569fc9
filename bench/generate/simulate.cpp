// SPDX-License-Identifier: Apache-2.0
// All times are maxima of times plus durations, so the order in which ranks are played does not matter:
// a work list of ranks is enough, and what is never reached stays at kNever.
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

#include "job.h"

namespace holter::generate {

namespace {

constexpr std::size_t kRunAhead = 24;  // calls the host may be ahead of the device
constexpr double kHostGap = 0.0005;    // host time per call
constexpr double kTransfer = 0.001;

// The same call of all members (or a send with its receive).
struct Instance {
  std::uint32_t need = 0;
  double last_start = 0;
  bool lost = false;
  OpKind kind = OpKind::kAllReduce;
  std::uint32_t elements = 0;
  std::vector<std::pair<std::int32_t, std::uint32_t>> members;  // rank, index of the operation
};

class Simulator {
 public:
  explicit Simulator(Job& job)
      : job_(job),
        links_(job.programs.size()),
        next_(job.programs.size(), 0),
        time_(job.programs.size(), 0),
        waiting_(job.programs.size()),
        queued_(job.programs.size(), false) {}

  void run() {
    for (std::size_t r = 0; r < job_.programs.size(); ++r) {
      link(static_cast<std::int32_t>(r));
      wake(static_cast<std::int32_t>(r));
    }
    while (!work_.empty()) {
      const auto rank = work_.front();
      work_.pop_front();
      queued_[static_cast<std::size_t>(rank)] = false;
      advance(rank);
    }
  }

 private:
  struct Link {
    std::int32_t on_stream = -1;  // previous operation on the same stream
    std::int32_t needs = -1;      // last blocking operation before this one
    std::uint32_t instance = 0;
  };

  void wake(std::int32_t rank) {
    if (queued_[static_cast<std::size_t>(rank)]) return;
    queued_[static_cast<std::size_t>(rank)] = true;
    work_.push_back(rank);
  }

  void link(std::int32_t rank) {
    const auto& ops = job_.programs[static_cast<std::size_t>(rank)];
    auto& links = links_[static_cast<std::size_t>(rank)];
    links.resize(ops.size());
    // Collectives of a group share a stream; sends and receives have one per pair of ranks.
    std::map<std::pair<std::uint32_t, std::int32_t>, std::int32_t> last_on_stream;
    std::map<std::tuple<std::uint32_t, std::int32_t, bool>, std::uint32_t> count;
    std::int32_t blocking = -1;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const auto& op = ops[i];
      auto& last = last_on_stream.try_emplace({op.group, op.peer}, -1).first->second;
      links[i].on_stream = last;
      last = static_cast<std::int32_t>(i);
      links[i].needs = blocking;
      if (op.blocking) blocking = last;
      const auto nth = count[{op.group, op.peer, op.kind == OpKind::kSend}]++;
      links[i].instance = instance_of(rank, op, nth);
    }
  }

  std::uint32_t instance_of(std::int32_t rank, const Op& op, std::uint32_t nth) {
    std::int32_t from = -1, to = -1;
    if (op.is_p2p()) {
      const auto own = job_.index_in(op.group, rank);
      from = op.kind == OpKind::kSend ? own : op.peer;
      to = op.kind == OpKind::kSend ? op.peer : own;
    }
    const std::uint64_t key = (std::uint64_t{op.group} << 40) ^ (std::uint64_t{nth} << 16) ^
                              (static_cast<std::uint64_t>(from + 1) << 8) ^ static_cast<std::uint64_t>(to + 1);
    const auto [it, is_new] = index_.try_emplace(key, static_cast<std::uint32_t>(instances_.size()));
    if (is_new) {
      instances_.emplace_back();
      instances_.back().need = op.is_p2p() ? 2 : static_cast<std::uint32_t>(job_.groups[op.group].ranks.size());
    }
    return it->second;
  }

  // Issues what the host can issue and starts what the device can start.
  void advance(std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    auto& ops = job_.programs[r];
    for (bool moved = true; moved;) {
      moved = false;
      while (next_[r] < ops.size() && issue(rank, next_[r])) {
        waiting_[r].push_back(static_cast<std::uint32_t>(next_[r]++));
        moved = true;
      }
      auto& waiting = waiting_[r];
      for (std::size_t w = 0; w < waiting.size();) {
        if (start(rank, waiting[w])) {
          waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(w));
          moved = true;
        } else {
          ++w;
        }
      }
    }
  }

  bool issue(std::int32_t rank, std::size_t i) {
    const auto r = static_cast<std::size_t>(rank);
    auto& ops = job_.programs[r];
    if (job_.stop_before[r] == static_cast<std::int64_t>(i)) return false;
    double at = time_[r] + kHostGap;
    if (i >= kRunAhead) {
      if (ops[i - kRunAhead].completed == kNever) return false;
      at = std::max(at, ops[i - kRunAhead].completed);
    }
    const auto needs = links_[r][i].needs;
    if (ops[i].sync && needs >= 0) {
      const double done = ops[static_cast<std::size_t>(needs)].completed;
      if (done == kNever) return false;
      at = std::max(at, done + kHostGap);
    }
    ops[i].enqueued = time_[r] = at;
    return true;
  }

  bool start(std::int32_t rank, std::uint32_t i) {
    const auto r = static_cast<std::size_t>(rank);
    auto& ops = job_.programs[r];
    auto& op = ops[i];
    const auto& l = links_[r][i];
    double at = op.enqueued;
    if (l.on_stream >= 0) at = std::max(at, ops[static_cast<std::size_t>(l.on_stream)].completed);
    if (l.needs >= 0) at = std::max(at, ops[static_cast<std::size_t>(l.needs)].completed + op.compute);
    if (at == kNever) return false;
    op.started = at;
    join(rank, i, l.instance);
    return true;
  }

  void join(std::int32_t rank, std::uint32_t i, std::uint32_t instance) {
    auto& x = instances_[instance];
    const auto& op = job_.programs[static_cast<std::size_t>(rank)][i];
    // A send meets a receive; other members must have made the very same call.
    const auto kind = op.kind == OpKind::kRecv ? OpKind::kSend : op.kind;
    if (!x.members.empty() && (x.kind != kind || x.elements != op.elements)) x.lost = true;
    x.kind = kind;
    x.elements = op.elements;
    x.lost = x.lost || op.lost;
    x.last_start = std::max(x.last_start, op.started);
    x.members.emplace_back(rank, i);
    if (x.members.size() < x.need || x.lost) return;
    for (const auto& [member, index] : x.members) {
      auto& theirs = job_.programs[static_cast<std::size_t>(member)][index];
      if (theirs.stuck_inside) continue;
      theirs.completed = x.last_start + kTransfer;
      wake(member);
    }
    x.members = {};
    x.need = ~0U;
  }

  Job& job_;
  std::vector<std::vector<Link>> links_;
  std::vector<std::size_t> next_;
  std::vector<double> time_;
  std::vector<std::vector<std::uint32_t>> waiting_;  // issued, not started
  std::vector<bool> queued_;
  std::deque<std::int32_t> work_;
  std::vector<Instance> instances_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
};

}  // namespace

void simulate(Job& job) { Simulator(job).run(); }

}  // namespace holter::generate
