// SPDX-License-Identifier: Apache-2.0
#include "hang/job.h"

#include <algorithm>
#include <set>

namespace holter::hang {

namespace {

constexpr std::int64_t kMaxWorld = 1 << 20;

class Joiner {
 public:
  explicit Joiner(const model::Evidence& ev) : ev_(ev) {}

  void rank(model::GlobalRank r, model::StrId node, std::int32_t pid) {
    if (node != model::StrId::kEmpty) nodes_.insert(std::string(ev_.text(node)));
    const auto v = value(r);
    if (v < 0) return;
    seen_.push_back(v);
    if (node != model::StrId::kEmpty) job_.node_of.emplace(v, ev_.text(node));
    if (pid >= 0) job_.pid_of.emplace(v, pid);
  }
  // A rank beyond any real job is damage, and says nothing of its size.
  void world(std::int64_t size) {
    if (size <= 0 || size > kMaxWorld) return;
    job_.ranks_expected = std::max(job_.ranks_expected.value_or(0), static_cast<std::int32_t>(size));
  }
  void dumped(std::int32_t r) { job_.with_dump.insert(r); }

  Job finish() {
    job_.seen = model::RankSet::of(std::move(seen_));
    job_.nodes.assign(nodes_.begin(), nodes_.end());
    if (job_.ranks_expected && !job_.seen.empty()) world(std::int64_t{job_.seen.ranges().back().last} + 1);
    return std::move(job_);
  }

 private:
  const model::Evidence& ev_;
  Job job_;
  std::vector<std::int32_t> seen_;
  std::set<std::string> nodes_;
};

}  // namespace

Job join_job(const model::Evidence& ev) {
  Joiner join(ev);
  for (const auto& f : ev.files) join.rank(f.name_rank, f.name_node, -1);
  std::set<model::RankListId> lists;
  for (const auto& d : ev.dumps) {
    join.rank(d.rank, model::StrId::kEmpty, -1);
    if (value(d.rank) >= 0) join.dumped(value(d.rank));
    for (const auto& g : d.groups) lists.insert(g.ranks);
  }
  for (const auto list : lists) {
    const auto& ranks = ev.rank_lists[static_cast<std::uint32_t>(list)];
    if (!ranks.empty()) join.world(std::int64_t{*std::max_element(ranks.begin(), ranks.end())} + 1);
  }
  for (const auto& e : ev.events) join.rank(e.rank, e.node, e.pid);
  for (const auto& w : ev.watchdog) join.rank(w.rank, w.node, -1);
  for (const auto& s : ev.stacks) {
    join.rank(s.rank, s.node, s.role == model::ThreadRole::kWorker ? -1 : s.pid);
    for (const auto r : s.ranks.to_vector()) join.rank(model::GlobalRank{r}, model::StrId::kEmpty, -1);
  }
  for (const auto& f : ev.facts) join.rank(f.rank, f.node, -1);
  for (const auto& c : ev.nccl.comms) join.rank(c.global_rank, c.host, c.pid);
  return join.finish();
}

}  // namespace holter::hang
