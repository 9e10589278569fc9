// SPDX-License-Identifier: Apache-2.0
#include "hang/mixed_jobs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace holter::hang {

namespace {

using model::RankListId;

constexpr std::size_t kComparedOfOneRank = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "run1/nccl_trace_rank_12" -> "run1/nccl_trace_rank_*": the folder as it is, numbers of the name open.
std::string pattern_of(std::string_view path) {
  const auto name = path.find_last_of("/!") == std::string_view::npos ? 0 : path.find_last_of("/!") + 1;
  std::string out(path.substr(0, name));
  for (std::size_t i = name; i < path.size(); ++i) {
    if (!is_digit(path[i])) out += path[i];
    else if (out.empty() || out.back() != '*') out += '*';
  }
  return out;
}

// Dumps that belong together as far as names and worlds tell.
struct Part {
  std::string pattern;
  RankListId world = RankListId::kNone;
  std::int32_t attempt = -1;
  std::vector<std::size_t> dumps;
  std::set<std::size_t> against;  // parts with dumps of the same rank that contradict
};

class Separation {
 public:
  explicit Separation(const model::Evidence& ev) : ev_(ev) {
    find_parts();
    compare_ranks();
  }

  std::vector<DumpJob> jobs() const {
    std::vector<std::vector<std::size_t>> jobs;  // of parts
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto fits = std::find_if(jobs.begin(), jobs.end(), [&](const auto& job) { return agree(job, p); });
      if (fits != jobs.end()) fits->push_back(p);
      else if (jobs.size() < kMaxJobs) jobs.push_back({p});
    }
    std::vector<DumpJob> out;
    for (const auto& job : jobs) {
      if (jobs.size() > 1) out.push_back(described(job));
    }
    return out;
  }

 private:
  RankListId world_of(const model::FrDump& d) const {
    for (const auto& g : d.groups) {
      if (ev_.text(g.desc) == "default_pg" || ev_.text(g.name) == "default_pg") return g.ranks;
    }
    for (const auto& g : d.groups) {
      if (ev_.text(g.name) == "0") return g.ranks;
    }
    return RankListId::kNone;
  }

  void find_parts() {
    std::map<std::tuple<std::string, RankListId, std::int32_t>, std::size_t> index;
    for (std::size_t i = 0; i < ev_.dumps.size(); ++i) {
      const auto& d = ev_.dumps[i];
      const auto& file = ev_.files[value(d.file)];
      const auto world = world_of(d);
      auto pattern = pattern_of(file.path);
      const auto [it, is_new] = index.try_emplace({pattern, world, file.name_attempt}, parts_.size());
      if (is_new) parts_.push_back({std::move(pattern), world, file.name_attempt, {}, {}});
      parts_[it->second].dumps.push_back(i);
      part_of_.push_back(it->second);
    }
  }

  // Groups of a dump by description and members, sorted.
  std::vector<std::pair<model::StrId, RankListId>> groups_of(std::size_t dump) const {
    std::vector<std::pair<model::StrId, RankListId>> out;
    for (const auto& g : ev_.dumps[dump].groups) {
      if (g.ranks != RankListId::kNone) out.emplace_back(g.desc, g.ranks);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  // Of one job, a later dump of a rank has the groups of an earlier one, or more.
  bool contradict(std::size_t a, std::size_t b) const {
    const auto first = groups_of(a), second = groups_of(b);
    return !std::includes(first.begin(), first.end(), second.begin(), second.end()) &&
           !std::includes(second.begin(), second.end(), first.begin(), first.end());
  }

  void compare_ranks() {
    std::map<std::int32_t, std::vector<std::size_t>> by_rank;
    for (std::size_t i = 0; i < ev_.dumps.size(); ++i) {
      auto& same = by_rank[value(ev_.dumps[i].rank)];
      if (value(ev_.dumps[i].rank) < 0 || same.size() >= kComparedOfOneRank) continue;
      for (const auto other : same) {
        const auto a = part_of_[i], b = part_of_[other];
        if (a != b && !attempts_differ(parts_[a], parts_[b]) && contradict(i, other)) {
          parts_[a].against.insert(b), parts_[b].against.insert(a);
        }
      }
      same.push_back(i);
    }
  }

  static bool attempts_differ(const Part& a, const Part& b) {
    return a.attempt >= 0 && b.attempt >= 0 && a.attempt != b.attempt;
  }

  bool agree(const std::vector<std::size_t>& job, std::size_t part) const {
    const auto& p = parts_[part];
    return std::all_of(job.begin(), job.end(), [&](std::size_t other) {
      const auto& o = parts_[other];
      const bool same_world = p.world == o.world || p.world == RankListId::kNone || o.world == RankListId::kNone;
      return attempts_differ(p, o) || (same_world && !p.against.contains(other));
    });
  }

  DumpJob described(const std::vector<std::size_t>& job) const {
    DumpJob out;
    for (const auto p : job) {
      const auto& ranks = ev_.rank_lists[static_cast<std::uint32_t>(parts_[p].world)];
      out.world = std::max(out.world, static_cast<std::int32_t>(ranks.size()));
      for (const auto d : parts_[p].dumps) out.files.push_back(ev_.dumps[d].file);
    }
    const auto& first = parts_[job.front()];
    const auto& alone = ev_.files[value(ev_.dumps[first.dumps.front()].file)].path;
    out.where = out.files.size() == 1 ? alone : first.pattern;
    return out;
  }

  const model::Evidence& ev_;
  std::vector<Part> parts_;
  std::vector<std::size_t> part_of_;  // by dump
};

}  // namespace

std::vector<DumpJob> mixed_jobs(const model::Evidence& evidence) { return Separation(evidence).jobs(); }

}  // namespace holter::hang
