// SPDX-License-Identifier: Apache-2.0
#include "hang/calls.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "base/strings.h"
#include "hang/call_notes.h"

namespace holter::hang {

namespace {

constexpr auto kNewest = std::numeric_limits<std::int64_t>::max();
constexpr double kTrustedFileAgeS = 86400;  // file times further from the newest call were not kept

class Builder {
 public:
  Builder(const model::Evidence& ev, const Job& job) : ev_(ev), job_(job) {
    out_.entry_group.assign(ev.entries.size(), CallState::kNoGroup);
    out_.entry_rank.assign(ev.entries.size(), -1);
  }

  CallState build() {
    for (const auto* dump : newest_dumps()) add_dump(*dump);
    add_ages();
    for (const auto& record : ev_.watchdog) add_watchdog(record);
    for (const auto& note : notes_of_stacks(ev_)) add_note(note);
    for (auto& [rank, calls] : out_.ranks) {
      std::stable_sort(calls.pending.begin(), calls.pending.end(),
                       [](const Call& a, const Call& b) { return a.order < b.order; });
    }
    return std::move(out_);
  }

 private:
  // The newest dump of each rank that says its rank.
  std::vector<const model::FrDump*> newest_dumps() const {
    std::map<std::int32_t, const model::FrDump*> newest;
    for (const auto& d : ev_.dumps) {
      if (value(d.rank) < 0) continue;
      auto& slot = newest[value(d.rank)];
      if (!slot || newest_entry(d) > newest_entry(*slot)) slot = &d;
    }
    std::vector<const model::FrDump*> out;
    for (const auto& [rank, dump] : newest) out.push_back(dump);
    return out;
  }
  std::int64_t newest_entry(const model::FrDump& d) const {
    std::int64_t t = 0;
    for (std::size_t i = 0; i < d.entry_count; ++i) t = std::max(t, ev_.entries[d.first_entry + i].created_ns);
    return t;
  }

  std::uint32_t group(std::string_view name, std::string_view desc, model::RankListId ranks) {
    const auto key = std::make_tuple(static_cast<std::uint32_t>(ranks), std::string(name), std::string(desc));
    if (const auto found = index_.find(key); found != index_.end()) return found->second;
    const auto id = static_cast<std::uint32_t>(out_.groups.size());
    out_.groups.push_back(
        {std::string(name), std::string(desc), ev_.rank_lists[static_cast<std::uint32_t>(ranks)], {}, false});
    index_.emplace(key, id);
    named_[std::string(name)].push_back(id);
    if (desc != name) named_[std::string(desc)].push_back(id);
    return id;
  }
  // A group named without its members: the only known group that fits, else a new one.
  std::uint32_t group_by_name(std::string_view name, std::string_view desc) {
    std::vector<std::uint32_t> fits;
    for (const auto g : named_[std::string(name.empty() ? desc : name)]) {
      if (fits.size() > 1) break;
      const auto& known = out_.groups[g];
      const bool same_name = !name.empty() && (known.name == name || known.desc == name);
      const bool same_desc = !desc.empty() && (known.desc == desc || known.name == desc);
      if (same_name && (desc.empty() || known.desc.empty() || same_desc)) fits.push_back(g);
      else if (name.empty() && same_desc) fits.push_back(g);
    }
    if (fits.size() == 1) return fits[0];
    return group(name, desc, model::RankListId::kNone);
  }

  void add_dump(const model::FrDump& d) {
    out_.from_dumps = true;
    const auto rank = value(d.rank);
    auto& calls = out_.ranks[rank];
    calls.known = true;
    calls.partial = d.truncated;
    std::map<model::StrId, std::uint32_t> by_name;
    for (const auto& g : d.groups) by_name[g.name] = group(ev_.text(g.name), ev_.text(g.desc), g.ranks);
    const auto group_of = [&](model::StrId name, model::StrId desc) {
      if (const auto found = by_name.find(name); found != by_name.end()) return found->second;
      return by_name[name] = group(ev_.text(name), ev_.text(desc), model::RankListId::kNone);
    };
    std::map<std::uint32_t, Seen> seen;
    for (std::size_t i = d.first_entry; i < d.first_entry + d.entry_count; ++i) {
      const auto& e = ev_.entries[i];
      const auto g = group_of(e.group_name, e.group_desc);
      out_.entry_group[i] = g;
      out_.entry_rank[i] = rank;
      calls.newest_created_ns = std::max(calls.newest_created_ns, created_of(d, e));
      auto& s = seen[g];
      s.unnumbered = s.unnumbered || (e.is_p2p ? e.p2p_seq : e.collective_seq) < 0;
      if (e.is_p2p) {
        out_.groups[g].has_p2p = true;
        s.max_p2p = std::max(s.max_p2p, e.p2p_seq);
        s.min_p2p = std::min(s.min_p2p, e.p2p_seq);
      } else {
        s.min_collective = std::min(s.min_collective, e.collective_seq);
        s.max_collective = std::max(s.max_collective, e.collective_seq);
        if (e.state == model::OpState::kCompleted) s.completed = std::max(s.completed, e.collective_seq);
      }
    }
    std::set<std::uint32_t> with_status;
    for (const auto& status : d.statuses) {
      const auto found = by_name.find(status.group_name);
      if (found == by_name.end()) continue;
      with_status.insert(found->second);
      add_status(found->second, rank, status, seen[found->second]);
      add_unrecorded(d, found->second, status, seen[found->second]);
    }
    for (const auto& [name, g] : by_name) {
      if (!with_status.contains(g)) add_seen(g, rank, d, seen);
    }
    for (std::size_t i = d.first_entry; i < d.first_entry + d.entry_count; ++i) add_pending(d, i, calls, seen);
    if (!calls.pending.empty()) {  // older than what was cut off
      std::erase_if(calls.unrecorded, [](const Call& c) { return c.order == kNewest; });
    }
  }

  struct Seen {
    std::int64_t max_collective = -1, max_p2p = -1, completed = -1;
    std::int64_t p2p_completed = -1;
    bool unnumbered = false;  // a call whose sequence number could not be read
    std::int64_t min_collective = std::numeric_limits<std::int64_t>::max(), min_p2p = min_collective;
  };

  static bool counts_p2p(const model::FrStatus& status, const Seen& seen) {
    return seen.max_p2p >= 0 && (seen.max_collective < 0 || status.last_enqueued == seen.max_p2p);
  }

  // pg_status counts collectives, or send/recv launches in a group that only does those.
  void add_status(std::uint32_t g, std::int32_t rank, const model::FrStatus& status, Seen& seen) {
    auto& p = out_.groups[g].progress[rank];
    p.known = true;
    if (counts_p2p(status, seen)) {
      out_.groups[g].has_p2p = true;
      seen.p2p_completed = status.last_completed;
      p.entered = seen.max_collective;
      p.completed = seen.completed;
      return;
    }
    p.exact = !seen.unnumbered || status.last_enqueued >= 0;
    p.entered = std::max(status.last_enqueued, seen.max_collective);
    p.completed = std::max(status.last_completed, seen.completed);
    seen.completed = p.completed;
  }
  // A stuck rank goes on enqueuing, so a short ring no longer holds the call that it is stuck in; and a dump that
  // was cut lacks the newest ones.
  void add_unrecorded(const model::FrDump& d, std::uint32_t g, const model::FrStatus& status, const Seen& seen) {
    if (status.last_completed < 0 || status.last_enqueued <= status.last_completed) return;
    const auto first = status.last_completed + 1;
    const bool p2p = counts_p2p(status, seen);
    const bool lapped = (p2p ? seen.min_p2p : seen.min_collective) > first && d.entry_count > 0;
    const bool cut = d.truncated && (p2p ? seen.max_p2p : seen.max_collective) < first;
    if (!lapped && !cut) return;
    auto& calls = out_.ranks[value(d.rank)];
    Call call{.group = g, .rank = value(d.rank), .seq = first, .order = cut ? kNewest : -1, .p2p = p2p};
    call.at = {d.file, model::PosKind::kRecord, d.entry_count};
    // With timing on, the one that the device has started is the oldest.
    const bool started = status.last_started == first;
    if (started) calls.unrecorded.clear();
    else if (calls.unrecorded.size() == 1 && calls.unrecorded[0].started) return;
    call.started = started;
    calls.unrecorded.push_back(call);
  }
  void add_seen(std::uint32_t g, std::int32_t rank, const model::FrDump& d, std::map<std::uint32_t, Seen>& seen) {
    auto& p = out_.groups[g].progress[rank];
    const auto found = seen.find(g);
    const bool any = found != seen.end() && (found->second.max_collective >= 0 || found->second.max_p2p >= 0);
    if (any) {
      p = {true, found->second.max_collective, found->second.completed, !d.truncated && !found->second.unnumbered};
    } else if (d.has_status && !d.truncated) {
      p = {true, 0, 0, true};  // the other groups have a status: this one was never used here
    }
  }

  void add_pending(const model::FrDump& d, std::size_t i, RankCalls& calls, std::map<std::uint32_t, Seen>& seen) {
    const auto& e = ev_.entries[i];
    if (e.state == model::OpState::kCompleted) return;
    const auto g = out_.entry_group[i];
    const auto& s = seen[g];
    if (e.is_p2p ? e.p2p_seq >= 0 && e.p2p_seq <= s.p2p_completed : e.collective_seq <= s.completed) return;
    if (e.is_p2p && op_key(ev_.text(e.op)) == "coalesced") return;  // its sends and receives are entries too
    Call c = call_of(e, g, value(d.rank));
    c.created_ns = created_of(d, e);
    c.order = e.record_id >= 0 ? e.record_id : static_cast<std::int64_t>(i);
    c.at = {d.file, model::PosKind::kRecord, i - d.first_entry};
    c.started = e.state == model::OpState::kStarted;
    set_peer(c, ev_.text(e.op));
    calls.pending.push_back(c);
  }

  // On the timeline of the job.
  std::int64_t created_of(const model::FrDump& d, const model::FrEntry& e) const {
    return e.created_ns > 0 ? model::without_offset(e.created_ns, ev_.clocks[d.clock].offset_ns) : e.created_ns;
  }
  Call call_of(const model::FrEntry& e, std::uint32_t g, std::int32_t rank) const {
    const auto& shape = ev_.shapes[static_cast<std::uint32_t>(e.shape)];
    Call c;
    c.group = g;
    c.rank = rank;
    c.seq = e.is_p2p ? e.p2p_seq : e.collective_seq;
    c.op = e.op;
    c.numel_in = shape.numel_in;
    c.numel_out = shape.numel_out;
    c.shape = e.shape;
    c.frames = e.frames;
    c.p2p = e.is_p2p;
    c.retired = e.retired;
    c.timeout_ms = e.timeout_ms;
    return c;
  }

  // "send 0->3" and "recv 3<-0" number ranks in the group.
  void set_peer(Call& c, std::string_view op) const {
    const bool send = op.starts_with("send ");
    if (!send && !op.starts_with("recv ")) return;
    c.p2p = true;
    c.send = send;
    const auto arrow = op.find(send ? "->" : "<-");
    if (arrow == std::string_view::npos) return;
    const auto peer = base::to_int<std::int32_t>(op.substr(arrow + 2));
    const auto& ranks = out_.groups[c.group].ranks;
    if (peer && *peer >= 0 && static_cast<std::size_t>(*peer) < ranks.size()) c.peer = ranks[*peer];
  }

  void add_ages() {
    std::int64_t newest = 0;
    for (const auto& [rank, calls] : out_.ranks) newest = std::max(newest, calls.newest_created_ns);
    for (const auto* d : newest_dumps()) {
      const auto& calls = out_.ranks[value(d->rank)];
      if (calls.pending.empty()) continue;
      std::int64_t oldest = calls.pending.front().created_ns;
      for (const auto& c : calls.pending) oldest = std::min(oldest, c.created_ns);
      if (oldest <= 0) continue;
      const double to_newest = static_cast<double>(newest - oldest) / 1e9;
      out_.proven_age_s = std::max(out_.proven_age_s, to_newest);
      const double file_age = static_cast<double>(d->file_time_ns - newest) / 1e9;
      if (d->file_time_ns <= 0 || file_age < -1 || file_age > kTrustedFileAgeS) {
        out_.all_dated = false;
        continue;
      }
      // Archives keep whole seconds only, so that a young call may seem newer than its file.
      const double age = std::max(0.0, static_cast<double>(d->file_time_ns - oldest) / 1e9);
      out_.oldest_pending_s = std::max(out_.oldest_pending_s, age);
    }
  }

  void add_watchdog(const model::WatchdogRecord& w) {
    const auto rank = value(w.rank);
    if (rank < 0) return;
    std::string name(ev_.text(w.pg_guid));
    std::string desc(ev_.text(w.pg_desc));
    if (name.empty() && desc.empty() && w.pg_id >= 0) name = std::to_string(w.pg_id);
    if (name.empty() && desc.empty()) name = pending_group_of(rank, w.seq);
    if (name.empty() && desc.empty()) name = "0";
    const auto g = group_by_name(name, desc == "default_pg" && name.empty() ? "default_pg" : desc);
    out_.from_watchdog = true;
    auto& members = out_.groups[g].ranks;
    if (members.empty() && (desc == "default_pg" || (desc.empty() && name == "0"))) {
      // The default group is the whole job: as large as it is said to be, or as was seen.
      const auto all = job_.ranks_expected ? model::RankSet::range(0, *job_.ranks_expected - 1) : job_.seen;
      members = all.to_vector();
      if (desc.empty()) out_.groups[g].desc = "default_pg";
    }
    auto& p = out_.groups[g].progress[rank];
    if (!p.known || !p.exact) {
      p.known = true;
      p.entered = std::max({p.entered, w.last_enqueued, w.seq});
      if (w.last_completed >= 0 && w.last_completed <= p.entered) p.completed = std::max(p.completed, w.last_completed);
      p.exact = w.last_enqueued >= 0;
    }
    auto& calls = out_.ranks[rank];
    if (w.seq < 0 || (calls.known && !calls.partial)) return;
    calls.partial = true;
    add_watchdog_call(calls, w, g);
  }
  // Lines of one failure come without the group in old versions: the group that already waits at seq.
  std::string pending_group_of(std::int32_t rank, std::int64_t seq) {
    for (const auto& c : out_.ranks[rank].pending) {
      if (c.seq == seq) return out_.groups[c.group].name;
    }
    return "";
  }
  void add_watchdog_call(RankCalls& calls, const model::WatchdogRecord& w, std::uint32_t g) {
    Call* call = nullptr;
    for (auto& c : calls.pending) {
      if (c.seq == w.seq && (c.group == g || w.pg_guid == model::StrId::kEmpty)) call = &c;
    }
    if (!call) {
      calls.pending.push_back({.group = g, .rank = value(w.rank), .seq = w.seq, .order = w.seq, .at = w.at});
      call = &calls.pending.back();
    }
    call->group = w.pg_guid != model::StrId::kEmpty || w.pg_desc != model::StrId::kEmpty ? g : call->group;
    call->retired = true;
    if (w.op != model::StrId::kEmpty) call->op = w.op, call->at = w.at;
    if (w.numel_in >= 0) call->numel_in = static_cast<std::uint64_t>(w.numel_in);
    if (w.numel_out >= 0) call->numel_out = static_cast<std::uint64_t>(w.numel_out);
    if (w.timeout_ms > 0) call->timeout_ms = w.timeout_ms;
    calls.known = true;
  }

  void add_note(const CallNote& note) {
    const auto g = group_by_name(note.group, "");
    for (const auto rank : note.ranks.to_vector()) {
      auto& p = out_.groups[g].progress[rank];
      if (p.exact && out_.ranks[rank].known && !out_.ranks[rank].partial) continue;
      p.known = p.exact = true;
      if (note.completed) p.completed = std::max(p.completed, note.seq);
      p.entered = std::max(p.entered, note.seq);
      auto& members = out_.groups[g].ranks;
      if (!std::binary_search(members.begin(), members.end(), rank)) {
        members.insert(std::lower_bound(members.begin(), members.end(), rank), rank);
      }
      auto& calls = out_.ranks[rank];
      const bool waits = std::any_of(calls.pending.begin(), calls.pending.end(),
                                     [&](const Call& c) { return c.group == g && c.seq == note.seq; });
      if (!note.completed && !waits) {
        calls.pending.push_back(
            {.group = g, .rank = rank, .seq = note.seq, .order = note.seq, .op = note.op, .at = note.at});
        calls.known = calls.partial = true;
      }
    }
  }

  const model::Evidence& ev_;
  const Job& job_;
  CallState out_;
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::uint32_t> index_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> named_;  // groups by name and by description
};

}  // namespace

std::vector<Call> RankCalls::heads() const {
  if (!unrecorded.empty()) return unrecorded;
  return pending.empty() ? std::vector<Call>() : std::vector<Call>{pending.front()};
}

std::string Group::label() const {
  if (desc.empty() || desc == "undefined") return name.empty() ? "default group" : name;
  return name.empty() || name == desc ? desc : desc + " " + name;
}

CallState build_calls(const model::Evidence& evidence, const Job& job) { return Builder(evidence, job).build(); }

}  // namespace holter::hang
