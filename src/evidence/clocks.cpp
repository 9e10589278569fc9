// SPDX-License-Identifier: Apache-2.0
#include "evidence/clocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/strings.h"
#include "evidence/clock_graph.h"

namespace holter::evidence {

namespace {

using model::Clock;
using model::FileId;
using model::GlobalRank;
using model::PosKind;
using model::StrId;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kZoneStep = 900 * kSecond;       // all zones of the world are whole quarter hours
constexpr std::int64_t kZoneSlack = 30 * kSecond;       // further from a whole one it is a wrong clock
constexpr std::int64_t kMaxZone = 26 * 3600 * kSecond;  // UTC-12 to UTC+14
constexpr std::int64_t kSignalNs = 5 * kSecond;         // a dump signal is polled for once a second
constexpr std::int64_t kLeastTimeoutNs = 60 * kSecond;
constexpr std::size_t kMaxEntries = 500'000;  // ends of calls that are compared; more are thinned evenly

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}
std::uint64_t mix(std::uint64_t h, StrId id) { return mix(h, static_cast<std::uint32_t>(id)); }

// The nearest whole number of quarter hours, where there is one other than 0.
std::optional<std::int64_t> zone_of(std::int64_t offset) {
  if (std::abs(offset) > kMaxZone + kZoneStep) return std::nullopt;
  const auto half = offset < 0 ? -kZoneStep / 2 : kZoneStep / 2;
  const auto zone = (offset + half) / kZoneStep * kZoneStep;
  if (std::abs(offset - zone) > kZoneSlack || std::abs(zone) > kMaxZone) return std::nullopt;
  return zone;
}

std::string op_key(std::string_view op) {
  std::string key = base::lower(op);
  std::erase_if(key, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); });
  return key;
}

class Aligner {
 public:
  Aligner(model::Evidence& ev, const model::Rules& rules) : ev_(ev) {
    ev_.clocks.assign(1, {});
    const auto table = rules.tables.find("collectives.csv");
    if (table == rules.tables.end()) return;
    for (const auto& row : table->second.rows) {
      if (row.size() > 4 && row[4] == "none" && row[1] != "p2p" && row[1] != "coalesced") {
        together_.insert(op_key(row[0]));
      }
    }
  }

  void run() {
    find_nodes();
    name_clocks();
    ends_of_calls();
    zones_of_logs();
    timeouts();
    signals();
    communicators();
    graph_.solve(ev_.clocks);
    tell_zones();
    fill_unmeasured();
    join_hosts();
    stamp();
  }

 private:
  // --- whose clock ---------------------------------------------------------------
  void find_nodes() {
    const auto note = [&](GlobalRank rank, StrId node) {
      if (value(rank) >= 0 && node != StrId::kEmpty) node_of_.emplace(value(rank), node);
      if (node != StrId::kEmpty) nodes_.insert(node);
    };
    for (const auto& f : ev_.files) note(f.name_rank, f.name_node);
    for (const auto& e : ev_.events) note(e.rank, e.node);
    for (const auto& w : ev_.watchdog) note(w.rank, w.node);
    for (const auto& s : ev_.stacks) note(s.rank, s.node);
    for (const auto& c : ev_.nccl.comms) note(c.global_rank, c.host);
  }
  // A host by its name, else by the rank that runs there, else by the file that speaks of it.
  std::uint32_t clock(StrId node, GlobalRank rank, FileId file, bool dump) {
    if (node == StrId::kEmpty && value(file) < ev_.files.size()) node = ev_.files[value(file)].name_node;
    const auto named = node_of_.find(value(rank));
    if (node == StrId::kEmpty && named != node_of_.end()) node = named->second;
    const int kind = node != StrId::kEmpty ? 0 : value(rank) >= 0 ? 1 : 2;
    const auto number = kind == 0   ? static_cast<std::uint32_t>(node)
                        : kind == 1 ? static_cast<std::uint32_t>(value(rank))
                                    : value(file);
    const auto host = hosts_.try_emplace({kind, number}, hosts_.size() + 1).first->second;
    const auto printed = dump ? FileId::kNone : file;
    const auto [it, is_new] = clocks_.try_emplace({host, value(printed)}, ev_.clocks.size());
    if (is_new) {
      Clock c;
      c.host = host, c.node = node, c.file = printed;
      if (kind == 1) c.rank = rank;
      ev_.clocks.push_back(c);
    }
    return it->second;
  }
  void name_clocks() {
    const auto name = [&](model::Timestamp& time, StrId node, GlobalRank rank, FileId file) {
      if (time.comparable() && time.ns > 0) time.clock = clock(node, rank, file, false);
    };
    for (auto& d : ev_.dumps) {
      if (value(d.rank) >= 0) d.clock = clock(StrId::kEmpty, d.rank, d.file, true);
    }
    for (auto& e : ev_.events) name(e.time, e.node, e.rank, e.at.file);
    for (auto& w : ev_.watchdog) name(w.time, w.node, w.rank, w.at.file);
    for (auto& s : ev_.stacks) name(s.time, s.node, s.rank, s.at.file);
    for (auto& c : ev_.nccl.comms) {
      name(c.start, c.host, c.global_rank, c.at.file), name(c.complete, c.host, c.global_rank, c.at.file);
    }
  }
  std::int32_t attempt_of(FileId file) const {
    return value(file) < ev_.files.size() ? ev_.files[value(file)].name_attempt : -1;
  }

  // --- shared events -------------------------------------------------------------
  void ends_of_calls() {
    std::unordered_map<StrId, bool> ends_together;
    const auto together = [&](StrId op) {
      const auto [it, is_new] = ends_together.try_emplace(op);
      if (is_new) it->second = together_.contains(op_key(ev_.text(op)));
      return it->second;
    };
    const std::uint64_t thin = ev_.entries.size() / kMaxEntries + 1;
    std::vector<Sighting> seen;
    for (const auto& d : ev_.dumps) {
      if (d.clock == 0) continue;
      std::unordered_map<StrId, model::RankListId> members;
      for (const auto& g : d.groups) members.emplace(g.name, g.ranks);
      for (std::size_t i = 0; i < d.entry_count; ++i) {
        const auto& e = ev_.entries[d.first_entry + i];
        if (e.completed_ns <= 0 || e.is_p2p || e.collective_seq < 0 || !together(e.op)) continue;
        const auto list = members.find(e.group_name);
        auto key =
            mix(mix(mix(mix(1, e.group_name), e.group_desc), e.op), static_cast<std::uint64_t>(e.collective_seq));
        if (list != members.end()) key = mix(key, static_cast<std::uint32_t>(list->second));
        key = mix(key, static_cast<std::uint32_t>(attempt_of(d.file)));
        if (key % thin == 0) seen.push_back({key, d.clock, e.completed_ns, 0, {d.file, PosKind::kRecord, i}});
      }
    }
    graph_.add(std::move(seen));
  }

  // A rank's timeout line and the record of the same call in its own dump.
  void zones_of_logs() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::vector<const model::WatchdogRecord*>> wanted;
    for (const auto& w : ev_.watchdog) {
      if (w.time.clock != 0 && w.ran_ms > 0 && w.ran_ms < kMaxZone / 1'000'000 && w.seq >= 0 && value(w.rank) >= 0)
        wanted[{value(w.rank), w.seq}].push_back(&w);
    }
    if (wanted.empty()) return;
    std::map<std::uint32_t, std::int64_t> zone_of_log;
    for (const auto& d : ev_.dumps) {
      for (std::size_t i = 0; d.clock != 0 && i < d.entry_count; ++i) {
        const auto& e = ev_.entries[d.first_entry + i];
        const auto found = wanted.find({value(d.rank), e.collective_seq});
        if (e.is_p2p || e.created_ns <= 0 || found == wanted.end()) continue;
        for (const auto* w : found->second) {
          if (!same_call(*w, e)) continue;
          const auto called = w->time.ns - w->ran_ms * 1'000'000;
          const auto zone = zone_of(called - e.created_ns);
          if (!zone || !zone_of_log.emplace(w->time.clock, *zone).second) continue;
          graph_.tie(d.clock, w->time.clock, *zone, {0, d.clock, e.created_ns, 0, {d.file, PosKind::kRecord, i}},
                     {0, w->time.clock, called, 0, w->at});
        }
      }
    }
  }
  bool same_call(const model::WatchdogRecord& w, const model::FrEntry& e) const {
    const auto is = [](StrId said, StrId known) {
      return said == StrId::kEmpty || known == StrId::kEmpty || said == known;
    };
    auto said = op_key(ev_.text(w.op)), known = op_key(ev_.text(e.op));
    const bool op = known.empty() || said.starts_with(known) || known.starts_with(said);
    return op && is(w.pg_guid, e.group_name) && is(w.pg_desc, e.group_desc);
  }

  void timeouts() {
    std::vector<Sighting> seen;
    for (const auto& w : ev_.watchdog) {
      if (w.time.clock == 0 || w.ran_ms < 0 || w.seq < 0) continue;
      auto key = mix(mix(mix(mix(2, w.pg_guid), w.pg_desc), w.op), static_cast<std::uint64_t>(w.seq));
      key = mix(key, static_cast<std::uint32_t>(attempt_of(w.at.file)));
      const auto timeout = std::min(std::max(w.timeout_ms, w.ran_ms), kMaxZone / 1'000'000) * 1'000'000;
      seen.push_back({key, w.time.clock, w.time.ns, std::max(timeout, kLeastTimeoutNs), w.at});
    }
    graph_.add(std::move(seen));
  }
  void signals() {
    std::map<std::pair<std::int32_t, std::uint32_t>, const model::Event*> first;  // attempt, clock
    for (const auto& e : ev_.events) {
      if (e.time.clock == 0 || ev_.text(e.kind) != "watchdog.dump") continue;
      if (!base::contains_ignore_case(ev_.text(e.text), "dump signal")) continue;
      auto& slot = first[{attempt_of(e.at.file), e.time.clock}];
      if (!slot || e.time.ns < slot->time.ns) slot = &e;
    }
    std::vector<Sighting> seen;
    for (const auto& [key, e] : first) {
      seen.push_back({mix(3, static_cast<std::uint32_t>(key.first)), key.second, e->time.ns, kSignalNs, e->at});
    }
    graph_.add(std::move(seen));
  }
  void communicators() {
    std::vector<Sighting> seen;
    for (const auto& c : ev_.nccl.comms) {
      if (c.complete.clock == 0 || c.comm_id == StrId::kEmpty) continue;
      const auto key = mix(mix(4, c.comm_id), static_cast<std::uint32_t>(attempt_of(c.at.file)));
      seen.push_back({key, c.complete.clock, c.complete.ns, kSecond, c.at});
    }
    graph_.add(std::move(seen));
  }

  // --- what follows ----------------------------------------------------------------
  void tell_zones() {
    for (auto& c : ev_.clocks) {
      if (c.set == 0) continue;
      // Within its error a clock is right, and a rough measure says no more than what is usual.
      if (std::abs(c.offset_ns) <= c.error_ns) {
        c.offset_ns = 0, c.error_ns = std::min(c.error_ns, model::kUnalignedNs / 2);
        continue;
      }
      const auto zone = c.file == FileId::kNone ? std::nullopt : zone_of(c.offset_ns);
      if (!zone || *zone == 0) continue;
      c.zone_ns = *zone;
      widest_zone_ = std::max(widest_zone_, std::abs(*zone));
      // A rough measure of a whole zone: the rest is what clocks of hosts usually differ by.
      if (c.error_ns > model::kUnalignedNs) c.offset_ns = *zone, c.error_ns = model::kUnalignedNs;
    }
  }
  // The log of one rank: the ranks of a job on one host have one environment, and so one time zone.
  bool is_rank_log(const Clock& c) const {
    return c.file != FileId::kNone && value(ev_.files[value(c.file)].name_rank) >= 0;
  }
  // A clock that nothing measures has the offset of its host. In which zone it prints is unknown as
  // soon as any log of the job prints in another one than the rest.
  void fill_unmeasured() {
    std::map<std::pair<std::uint32_t, bool>, Clock> best;  // by host; apart: logs of its ranks, with their zone
    for (const auto& c : ev_.clocks) {
      for (const bool rank_log : {false, true}) {
        if (c.set == 0 || (rank_log ? !is_rank_log(c) : c.zone_ns != 0)) continue;
        const auto [it, is_new] = best.emplace(std::pair(c.host, rank_log), c);
        if (!is_new && c.error_ns < it->second.error_ns) it->second = c;
      }
    }
    for (auto& c : ev_.clocks) {
      if (c.set != 0 || c.host == 0) continue;
      auto known = is_rank_log(c) ? best.find({c.host, true}) : best.end();
      if (known == best.end()) c.error_ns = widest_zone_, known = best.find({c.host, false});
      if (known == best.end()) continue;
      c.offset_ns = known->second.offset_ns, c.zone_ns = known->second.zone_ns, c.set = known->second.set;
      c.error_ns += known->second.error_ns;
    }
  }
  // Where evidence names one host at most, what is nameless runs there too.
  void join_hosts() {
    if (nodes_.size() > 1) return;
    for (auto& c : ev_.clocks) {
      if (c.host != 0 && c.offset_ns == 0) c.host = 1;
    }
  }
  void stamp() {
    const auto set = [&](model::Timestamp& t) { t.offset_ns = ev_.clocks[t.clock].offset_ns; };
    for (auto& e : ev_.events) set(e.time);
    for (auto& w : ev_.watchdog) set(w.time);
    for (auto& s : ev_.stacks) set(s.time);
    for (auto& c : ev_.nccl.comms) set(c.start), set(c.complete);
  }

  model::Evidence& ev_;
  std::set<std::string> together_;  // operations that all members leave at one time
  std::map<std::int32_t, StrId> node_of_;
  std::set<StrId> nodes_;
  std::map<std::pair<int, std::uint32_t>, std::uint32_t> hosts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> clocks_;  // host, file
  ClockGraph graph_;
  std::int64_t widest_zone_ = 0;
};

}  // namespace

void align_clocks(model::Evidence& evidence, const model::Rules& rules) { Aligner(evidence, rules).run(); }

}  // namespace holter::evidence
