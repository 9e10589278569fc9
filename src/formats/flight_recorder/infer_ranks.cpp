// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/infer_ranks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/strings.h"

namespace holter::formats::flight_recorder {

namespace {

using Ranks = std::vector<std::int32_t>;

const Ranks* ranks_of(const model::Evidence& ev, const model::FrDump& dump, model::StrId group) {
  for (const auto& g : dump.groups) {
    if (g.name != group) continue;
    const auto& list = ev.rank_lists[static_cast<std::uint32_t>(g.ranks)];
    return list.empty() ? nullptr : &list;
  }
  return nullptr;
}

// The own rank in the group: the number before "->" or "<-".
std::optional<std::int32_t> own_group_rank(std::string_view op) {
  if (!op.starts_with("send ") && !op.starts_with("recv ")) return std::nullopt;
  op.remove_prefix(5);
  const auto arrow = op.starts_with("->") ? std::string_view::npos : op.find_first_of("-<");
  if (arrow == std::string_view::npos) return std::nullopt;
  return base::to_int<std::int32_t>(op.substr(0, arrow));
}

// The global rank that all sends and receives of the dump agree on.
std::optional<std::int32_t> rank_from_p2p(const model::Evidence& ev, const model::FrDump& dump) {
  std::set<std::pair<model::StrId, model::StrId>> done;
  std::optional<std::int32_t> rank;
  for (std::size_t i = 0; i < dump.entry_count; ++i) {
    const auto& e = ev.entries[dump.first_entry + i];
    if (!e.is_p2p || !done.emplace(e.group_name, e.op).second) continue;
    const auto own = own_group_rank(ev.text(e.op));
    const auto* ranks = own ? ranks_of(ev, dump, e.group_name) : nullptr;
    if (!ranks || *own < 0 || static_cast<std::size_t>(*own) >= ranks->size()) continue;
    const auto global = (*ranks)[static_cast<std::size_t>(*own)];
    if (rank && *rank != global) return std::nullopt;
    rank = global;
  }
  return rank;
}

// Groups that the rank surely belongs to: those it used. Some tools list foreign groups in pg_config.
std::vector<const Ranks*> own_groups(const model::Evidence& ev, const model::FrDump& dump) {
  std::set<model::StrId> names;
  for (std::size_t i = 0; i < dump.entry_count; ++i) names.insert(ev.entries[dump.first_entry + i].group_name);
  for (const auto& s : dump.statuses) names.insert(s.group_name);
  names.erase(model::StrId::kEmpty);
  if (names.empty()) {
    for (const auto& g : dump.groups) names.insert(g.name);
  }
  std::vector<const Ranks*> groups;
  for (const auto name : names) {
    if (const auto* ranks = ranks_of(ev, dump, name)) groups.push_back(ranks);
  }
  return groups;
}

Ranks candidates_of(const model::Evidence& ev, const model::FrDump& dump) {
  auto groups = own_groups(ev, dump);
  if (groups.empty()) return {};
  // The smallest first: the intersection is never larger.
  std::sort(groups.begin(), groups.end(), [](auto a, auto b) { return a->size() < b->size(); });
  Ranks out = *groups.front();
  std::sort(out.begin(), out.end());
  for (std::size_t g = 1; g < groups.size() && out.size() > 1; ++g) {
    const auto& other = *groups[g];
    std::erase_if(out, [&](auto r) { return std::find(other.begin(), other.end(), r) == other.end(); });
  }
  return out;
}

void check_name(model::Evidence& ev, model::FrDump& dump) {
  const auto rank = rank_from_p2p(ev, dump);
  if (!rank || *rank == value(dump.rank)) return;
  ev.add_problem(
      {dump.file, model::PosKind::kNone, 0},
      fmt::format("the file name says rank {}, its sends and receives say rank {}", value(dump.rank), *rank));
  dump.rank = model::GlobalRank{*rank};
}

// Gives a rank to every dump with one candidate left, until nothing changes.
std::size_t place_unique(model::Evidence& ev, std::unordered_map<std::size_t, Ranks>& open,
                         std::set<std::int32_t> taken) {
  std::size_t placed = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = open.begin(); it != open.end();) {
      std::erase_if(it->second, [&](auto r) { return taken.count(r) > 0; });
      if (it->second.size() == 1) {
        ev.dumps[it->first].rank = model::GlobalRank{it->second.front()};
        taken.insert(it->second.front());
        ++placed;
        changed = true;
      }
      it = it->second.size() <= 1 ? open.erase(it) : std::next(it);
    }
  }
  return placed;
}

}  // namespace

std::size_t infer_dump_ranks(model::Evidence& ev) {
  std::unordered_map<std::size_t, Ranks> open;
  std::set<std::int32_t> taken;
  std::size_t placed = 0;
  for (std::size_t i = 0; i < ev.dumps.size(); ++i) {
    auto& dump = ev.dumps[i];
    if (dump.rank != model::GlobalRank::kNone) {
      check_name(ev, dump);
    } else if (const auto rank = rank_from_p2p(ev, dump)) {
      dump.rank = model::GlobalRank{*rank};
      ++placed;
    } else if (auto candidates = candidates_of(ev, dump); !candidates.empty()) {
      open.emplace(i, std::move(candidates));
    }
    if (dump.rank != model::GlobalRank::kNone) taken.insert(value(dump.rank));
  }
  return placed + place_unique(ev, open, std::move(taken));
}

}  // namespace holter::formats::flight_recorder
