// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/dump_builder.h"

#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "formats/flight_recorder/comm_state.h"
#include "formats/flight_recorder/values.h"

namespace holter::formats::flight_recorder {

namespace {

constexpr std::size_t kMaxEntries = std::size_t{16} << 20;

model::SourceRef record(FileContext context, std::uint64_t index) {
  return {context.id, model::PosKind::kRecord, index};
}

// "9" before "10", and numbers before words.
bool numeric_before(std::string_view a, std::string_view b) {
  const auto x = base::to_int<std::int64_t>(a), y = base::to_int<std::int64_t>(b);
  if (x && y) return *x < *y;
  if (x || y) return x.has_value();
  return a < b;
}

}  // namespace

DumpBuilder::DumpBuilder(FileContext context, const ValueStack& stack, model::Evidence& out)
    : context_(context), stack_(stack), out_(out), decoder_(stack, out) {
  dump_.file = context.id;
  dump_.first_entry = out.entries.size();
  if (context.file) {
    dump_.rank = context.file->name_rank;
    dump_.file_time_ns = context.file->modified_ns;
  }
}

void DumpBuilder::on_entry(std::span<const Value> pairs) {
  if (out_.entries.size() - dump_.first_entry >= kMaxEntries) {
    ++unreadable_;
    return;
  }
  if (auto entry = decoder_.decode(pairs)) out_.entries.push_back(*entry);
  else ++unreadable_;
}

void DumpBuilder::finish(const Value& root, const ParseEnd& end) {
  dump_.entry_count = out_.entries.size() - dump_.first_entry;
  dump_.truncated = !end.complete;
  sort_entries();
  const auto top = root.kind == Kind::kDict ? stack_.items(root) : std::span<const Value>();
  dump_.version = as_string(find(top, Key::kVersion), stack_, out_);
  auto library = find(top, Key::kNcclVersion);
  if (library.kind == Kind::kNone) library = find(top, Key::kCommLibVersion);
  dump_.nccl_version = as_string(library, stack_, out_);
  const auto rank = as_int(find(top, Key::kRank), out_);
  if (dump_.rank == model::GlobalRank::kNone && rank && *rank >= 0 && *rank <= INT32_MAX) {
    dump_.rank = model::GlobalRank{static_cast<std::int32_t>(*rank)};
  }
  read_groups(find(top, Key::kPgConfig));
  const auto status = find(top, Key::kPgStatus);
  dump_.has_status = status.kind == Kind::kDict;
  read_statuses(status);
  name_statuses();
  if (const auto state = find(top, Key::kCommState); state.kind == Kind::kDict) {
    dump_.proxy_ops = read_comm_state(state, stack_, out_);
  }
  report(end);
  out_.dumps.push_back(std::move(dump_));
}

// {name: {name, desc, ranks}}; ranks is text in every version seen, a list is accepted.
void DumpBuilder::read_groups(const Value& config) {
  const auto items = stack_.items(config);
  if (config.kind != Kind::kDict) return;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    model::FrGroup group;
    group.name = as_string(items[i], stack_, out_);
    const auto& v = items[i + 1];
    if (v.kind == Kind::kDict) {
      const auto fields = stack_.items(v);
      group.desc = as_string(find(fields, Key::kDesc), stack_, out_);
      group.ranks = as_rank_list(find(fields, Key::kRanks), stack_, out_);
    } else {
      group.ranks = as_rank_list(v, stack_, out_);
    }
    bound_members(group);
    dump_.groups.push_back(group);
  }
}

// A list that the file holds once may be named by many groups, each of which costs its length later.
void DumpBuilder::bound_members(model::FrGroup& group) {
  const auto size = out_.rank_lists[static_cast<std::uint32_t>(group.ranks)].size();
  if (size <= members_left_) {
    members_left_ -= size;
    return;
  }
  group.ranks = model::RankListId::kNone;
  out_.add_problem(record(context_, dump_.groups.size()), "the groups of the dump have too many members together");
}

void DumpBuilder::read_statuses(const Value& status) {
  const auto items = stack_.items(status);
  if (status.kind != Kind::kDict) return;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const auto id = as_int(items[i], out_);
    const auto fields = stack_.items(items[i + 1]);
    if (!id || *id < 0 || *id > INT32_MAX || fields.empty()) continue;
    model::FrStatus s;
    s.pg_id = static_cast<std::int32_t>(*id);
    s.last_enqueued = int_or(find(fields, Key::kLastEnqueued), out_, -1);
    s.last_started = int_or(find(fields, Key::kLastStarted), out_, -1);
    s.last_completed = int_or(find(fields, Key::kLastCompleted), out_, -1);
    dump_.statuses.push_back(s);
  }
  std::sort(dump_.statuses.begin(), dump_.statuses.end(),
            [](const auto& a, const auto& b) { return a.pg_id < b.pg_id; });
}

void DumpBuilder::sort_entries() {
  const auto first = out_.entries.begin() + static_cast<std::ptrdiff_t>(dump_.first_entry);
  const auto older = [](const auto& a, const auto& b) { return a.record_id < b.record_id; };
  if (!std::is_sorted(first, out_.entries.end(), older)) std::stable_sort(first, out_.entries.end(), older);
}

void DumpBuilder::name_statuses() {
  std::unordered_map<std::int32_t, model::StrId> names;
  for (std::size_t i = 0; i < dump_.entry_count; ++i) {
    const auto& e = out_.entries[dump_.first_entry + i];
    if (e.group_name != model::StrId::kEmpty && e.pg_id >= 0) names.try_emplace(e.pg_id, e.group_name);
  }
  for (auto& s : dump_.statuses) {
    if (const auto it = names.find(s.pg_id); it != names.end()) s.group_name = it->second;
  }
  zip_status_names(dump_, out_);
}

void DumpBuilder::report(const ParseEnd& end) {
  if (!end.complete) {
    out_.add_problem({context_.id, model::PosKind::kOffset, end.offset}, end.problem);
  }
  if (unreadable_ > 0) {
    out_.add_problem(record(context_, dump_.entry_count), "records of the dump that are no entries");
  }
  if (!context_.file) return;
  if (!end.complete || unreadable_ > 0) context_.file->status = model::FileStatus::kPartial;
  context_.file->version = std::string(out_.text(dump_.version));
  context_.file->counts["entries"] += dump_.entry_count;
  context_.file->counts["groups"] += dump_.groups.size();
}

void zip_status_names(model::FrDump& dump, const model::Evidence& evidence) {
  if (dump.statuses.empty() || dump.statuses.size() != dump.groups.size()) return;
  std::vector<model::StrId> names;
  for (const auto& g : dump.groups) names.push_back(g.name);
  std::sort(names.begin(), names.end(),
            [&](auto a, auto b) { return numeric_before(evidence.text(a), evidence.text(b)); });
  for (std::size_t i = 0; i < names.size(); ++i) {
    // Entries are proof: where they contradict the order, the order says nothing about the others.
    const auto known = dump.statuses[i].group_name;
    if (known != model::StrId::kEmpty && known != names[i]) return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) dump.statuses[i].group_name = names[i];
}

}  // namespace holter::formats::flight_recorder
