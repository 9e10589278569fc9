// SPDX-License-Identifier: Apache-2.0
#include "evidence/identity.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "evidence/name_hints.h"
#include "formats/flight_recorder/infer_ranks.h"

namespace holter::evidence {

namespace {

using model::GlobalRank;
using model::StrId;

// Names again, now with those of archive members: a set of names may say more than each alone.
void hints_of_members(model::Evidence& ev) {
  std::vector<std::string> paths;
  bool members = false;
  for (const auto& file : ev.files) {
    paths.push_back(file.path);
    members = members || file.path.find('!') != std::string::npos;
  }
  if (!members) return;
  const auto hints = hints_of(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto& file = ev.files[i];
    if (file.path.find('!') == std::string::npos) continue;
    // Reading went by the single name; where the set contradicts it (local ranks), nothing is known.
    const auto rank = hints[i].rank < 0 ? GlobalRank::kNone : GlobalRank{hints[i].rank};
    if (file.name_rank == GlobalRank::kNone) file.name_rank = rank;
  }
}

// Hosts that some content names: a file whose name holds one of them is about it.
void nodes_of_files(model::Evidence& ev) {
  std::unordered_set<std::string_view> hosts;
  const auto add = [&](StrId id) {
    if (id != StrId::kEmpty) hosts.insert(ev.text(id));
  };
  for (const auto& c : ev.nccl.comms) add(c.host);
  for (const auto& e : ev.events) add(e.node);
  for (const auto& f : ev.facts) add(f.node);
  for (const auto& s : ev.stacks) add(s.node);
  for (const auto& f : ev.files) add(f.name_node);
  if (hosts.empty()) return;
  for (auto& file : ev.files) {
    if (file.name_node != StrId::kEmpty) continue;
    std::set<std::string_view> found;
    for (const auto word : host_words(file.path)) {
      if (word.size() > 2 && hosts.contains(word)) found.insert(word);
    }
    if (found.size() == 1) file.name_node = ev.intern(*found.begin());
  }
}

// What a file is about holds for its records that do not say it, unless the file speaks of others too.
class FileOwners {
 public:
  explicit FileOwners(const model::Evidence& ev)
      : ev_(ev), ranks_(ev.files.size(), kNothing), nodes_(ev.files.size(), kNothing) {}

  void saw(const model::SourceRef& at, GlobalRank rank, StrId node) {
    if (!known(at)) return;
    if (rank != GlobalRank::kNone) note(ranks_[value(at.file)], value(rank));
    if (node != StrId::kEmpty) note(nodes_[value(at.file)], static_cast<std::int32_t>(node));
  }
  void fill(const model::SourceRef& at, GlobalRank& rank, StrId& node) const {
    if (!known(at)) return;
    const auto& file = ev_.files[value(at.file)];
    const auto agrees = [](std::int32_t seen, std::int32_t named) { return seen == kNothing || seen == named; };
    if (rank == GlobalRank::kNone && agrees(ranks_[value(at.file)], value(file.name_rank))) rank = file.name_rank;
    if (node == StrId::kEmpty && agrees(nodes_[value(at.file)], static_cast<std::int32_t>(file.name_node))) {
      node = file.name_node;
    }
  }

 private:
  static constexpr std::int32_t kNothing = -1, kSeveral = -2;
  bool known(const model::SourceRef& at) const { return value(at.file) < ev_.files.size(); }
  static void note(std::int32_t& slot, std::int32_t v) { slot = slot == kNothing || slot == v ? v : kSeveral; }

  const model::Evidence& ev_;
  std::vector<std::int32_t> ranks_, nodes_;
};

void fill_from_files(model::Evidence& ev) {
  FileOwners owners(ev);
  for (const auto& e : ev.events) owners.saw(e.at, e.rank, e.node);
  for (const auto& w : ev.watchdog) owners.saw(w.at, w.rank, w.node);
  for (auto& e : ev.events) owners.fill(e.at, e.rank, e.node);
  for (auto& w : ev.watchdog) owners.fill(w.at, w.rank, w.node);
  for (auto& s : ev.stacks) {
    if (s.ranks.empty()) owners.fill(s.at, s.rank, s.node);
  }
  for (auto& f : ev.facts) owners.fill(f.at, f.rank, f.node);
  StrId none = StrId::kEmpty;
  for (auto& d : ev.dumps) owners.fill({d.file, model::PosKind::kNone, 0}, d.rank, none);
  for (auto& e : ev.events) {
    const auto file = value(e.at.file);
    if (e.attempt < 0 && file < ev.files.size()) e.attempt = ev.files[file].name_attempt;
  }
}

// Processes known by pid: the pid is unique on its node, and where no node is known it must be unique
// in all evidence.
class Processes {
 public:
  void add(StrId node, std::int32_t pid, GlobalRank rank) {
    if (pid <= 0 || rank == GlobalRank::kNone) return;
    note(exact_[{node, pid}], rank);
    note(any_[pid], rank);
  }
  GlobalRank find(StrId node, std::int32_t pid) const {
    if (pid <= 0) return GlobalRank::kNone;
    if (const auto it = exact_.find({node, pid}); it != exact_.end() && node != StrId::kEmpty)
      return rank_of(it->second);
    const auto it = any_.find(pid);
    if (pid < kLowestPid || it == any_.end()) return GlobalRank::kNone;
    // A record of another known node is another process.
    if (node != StrId::kEmpty && !exact_.contains({StrId::kEmpty, pid})) return GlobalRank::kNone;
    return rank_of(it->second);
  }

 private:
  static constexpr std::int32_t kLowestPid = 300;  // in containers low pids repeat on every node
  struct Owner {
    GlobalRank rank = GlobalRank::kNone;
    bool several = false;
  };
  static void note(Owner& owner, GlobalRank rank) {
    if (owner.rank != GlobalRank::kNone && owner.rank != rank) owner.several = true;
    owner.rank = rank;
  }
  static GlobalRank rank_of(const Owner& owner) { return owner.several ? GlobalRank::kNone : owner.rank; }

  std::map<std::pair<StrId, std::int32_t>, Owner> exact_;
  std::map<std::int32_t, Owner> any_;
};

void ranks_by_pid(model::Evidence& ev) {
  Processes processes;
  for (const auto& e : ev.events) processes.add(e.node, e.pid, e.rank);
  for (const auto& c : ev.nccl.comms) processes.add(c.host, c.pid, c.global_rank);
  for (const auto& s : ev.stacks) {
    if (s.role != model::ThreadRole::kWorker) processes.add(s.node, s.pid, s.rank);
  }
  for (auto& e : ev.events) {
    if (e.rank == GlobalRank::kNone) e.rank = processes.find(e.node, e.pid);
  }
  for (auto& c : ev.nccl.comms) {
    if (c.global_rank == GlobalRank::kNone) c.global_rank = processes.find(c.host, c.pid);
  }
  for (auto& s : ev.stacks) {
    if (s.rank == GlobalRank::kNone && s.ranks.empty()) s.rank = processes.find(s.node, s.pid);
  }
}

void report_repeated_dumps(model::Evidence& ev) {
  std::map<std::int32_t, std::vector<const model::FrDump*>> by_rank;
  for (const auto& d : ev.dumps) {
    if (d.rank != GlobalRank::kNone) by_rank[value(d.rank)].push_back(&d);
  }
  for (const auto& [rank, dumps] : by_rank) {
    if (dumps.size() < 2) continue;
    ev.add_problem({dumps.back()->file, model::PosKind::kNone, 0},
                   fmt::format("{} Flight Recorder dumps of rank {}: the newest is used", dumps.size(), rank));
  }
}

// One rank on two hosts in one attempt: a restart elsewhere that no name tells, or a wrong name.
void report_moved_ranks(model::Evidence& ev) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<StrId, model::SourceRef>> places;  // rank, attempt
  std::set<std::int32_t> told;
  for (std::size_t i = 0; i < ev.events.size(); ++i) {
    const auto e = ev.events[i];
    if (e.rank == GlobalRank::kNone || e.node == StrId::kEmpty) continue;
    const auto [it, is_new] = places.try_emplace({value(e.rank), e.attempt}, e.node, e.at);
    if (is_new || it->second.first == e.node || !told.insert(value(e.rank)).second) continue;
    ev.add_problem(e.at, fmt::format("rank {} is on {} here and on {} in {}", value(e.rank), ev.text(e.node),
                                     ev.text(it->second.first), ev.files[value(it->second.second.file)].path));
  }
}

}  // namespace

void resolve_identity(model::Evidence& ev) {
  hints_of_members(ev);
  nodes_of_files(ev);
  fill_from_files(ev);
  formats::flight_recorder::infer_dump_ranks(ev);
  ranks_by_pid(ev);
  report_repeated_dumps(ev);
  report_moved_ranks(ev);
}

}  // namespace holter::evidence
