// SPDX-License-Identifier: Apache-2.0
#include "model/evidence.h"

#include <iterator>

#include "base/strings.h"

namespace holter::model {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t v) {
  hash ^= v + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash;
}
std::uint64_t number(StrId id) { return static_cast<std::uint32_t>(id); }

std::uint64_t hash_of(const Shape& s) {
  std::uint64_t h = 1;
  for (const auto id : {s.input_sizes, s.output_sizes, s.input_dtypes, s.output_dtypes}) h = mix(h, number(id));
  return h;
}
std::uint64_t hash_of(const std::vector<Frame>& frames) {
  std::uint64_t h = 1;
  for (const auto& f : frames) h = mix(mix(mix(h, number(f.function)), number(f.file)), f.line);
  return h;
}

// The index of `item` in `items`, added when new.
template <typename Item, typename Index>
std::uint32_t intern_item(std::vector<Item>& items, Index& index, const Item& item) {
  auto& bucket = index[hash_of(item)];
  for (const auto i : bucket) {
    if (items[i] == item) return i;
  }
  const auto id = static_cast<std::uint32_t>(items.size());
  items.push_back(item);
  bucket.push_back(id);
  return id;
}

std::string key_of(const Problem& p) { return std::to_string(value(p.at.file)) + '|' + p.what; }

constexpr std::int32_t kMaxRank = 1 << 20;  // a larger one is damage

std::string text_of(const std::vector<std::int32_t>& ranks) {
  std::string out = "[";
  for (std::size_t i = 0; i < ranks.size(); ++i) out += (i ? ", " : "") + std::to_string(ranks[i]);
  return out + "]";
}

// Rewrites the ids of one Evidence into those of another.
class Remap {
 public:
  Remap(Evidence& to, Evidence& from)
      : strings_(to.strings.remap(from.strings)), first_file_(static_cast<std::uint32_t>(to.files.size())) {
    for (auto& frames : from.frame_lists) {
      for (auto& f : frames) apply(f);
      frames_.push_back(to.intern_frames(frames));
    }
    for (auto& shape : from.shapes) {
      fix(shape.input_sizes), fix(shape.output_sizes), fix(shape.input_dtypes), fix(shape.output_dtypes);
      shapes_.push_back(to.intern_shape(shape));
    }
    for (const auto& list : from.rank_lists) rank_lists_.push_back(to.intern_rank_list(text_of(list)));
  }

  void apply(SourceFile& f) const { fix(f.name_node); }
  void apply(Problem& p) const { fix(p.at); }
  void apply(FrEntry& e) const {
    fix(e.group_name), fix(e.group_desc), fix(e.op), fix(e.backend), fix(e.thread_name);
    e.shape = shapes_[static_cast<std::uint32_t>(e.shape)];
    e.frames = frames_[static_cast<std::uint32_t>(e.frames)];
  }
  void apply(FrDump& d) const {
    fix(d.file), fix(d.version), fix(d.nccl_version);
    for (auto& g : d.groups) {
      fix(g.name), fix(g.desc);
      g.ranks = rank_lists_[static_cast<std::uint32_t>(g.ranks)];
    }
    for (auto& status : d.statuses) fix(status.group_name);
    for (auto& p : d.proxy_ops) fix(p.comm);
  }
  void apply(Event& e) const {
    fix(e.at), fix(e.kind), fix(e.node), fix(e.gpu), fix(e.text);
    for (auto& [key, v] : e.fields) fix(key), fix(v);
  }
  void apply(WatchdogRecord& w) const {
    fix(w.at), fix(w.pg_guid), fix(w.pg_desc), fix(w.node), fix(w.op), fix(w.shape), fix(w.text);
  }
  void apply(Frame& f) const { fix(f.function), fix(f.file); }
  void apply(StackSample& s) const {
    fix(s.at), fix(s.node), fix(s.process), fix(s.thread_name), fix(s.tool), fix(s.note);
    for (auto& f : s.frames) apply(f);
  }
  void apply(NcclComm& c) const {
    fix(c.at), fix(c.host), fix(c.pointer), fix(c.comm_id), fix(c.bus_id), fix(c.last_op);
  }
  void apply(NcclEdge& e) const { fix(e.at), fix(e.host), fix(e.comm), fix(e.via); }
  void apply(NcclRing& r) const { fix(r.at), fix(r.host), fix(r.comm); }
  void apply(NcclTree& t) const { fix(t.at), fix(t.host), fix(t.comm); }
  void apply(NcclProcessFact& f) const { fix(f.at), fix(f.host), fix(f.key), fix(f.value); }
  void apply(RasReply& r) const {
    fix(r.at), fix(r.nccl_version);
    for (auto& c : r.comms) {
      fix(c.hash), fix(c.status), fix(c.errors);
      for (auto& rank : c.ranks) fix(rank.host), fix(rank.text);
      for (auto& w : c.warnings) fix(w);
    }
  }
  void apply(Fact& f) const {
    fix(f.at), fix(f.node), fix(f.subject), fix(f.key), fix(f.value), fix(f.context), fix(f.text);
  }
  void apply(Table& t) const {
    fix(t.at);
    for (auto& c : t.columns) fix(c);
    for (auto& row : t.rows) {
      for (auto& cell : row) fix(cell);
    }
  }

  template <typename Items>
  void move(Items& to, Items& from) const {
    for (auto& item : from) apply(item);
    if (to.empty()) {
      to = std::move(from);
    } else {  // insert() grows by doubling, so that many small parts stay linear
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    }
    from = {};
  }

 private:
  void fix(FileId& id) const {
    if (id != FileId::kNone) id = FileId{value(id) + first_file_};
  }
  void fix(SourceRef& ref) const { fix(ref.file); }
  void fix(StrId& id) const { id = strings_[static_cast<std::uint32_t>(id)]; }
  std::vector<StrId> strings_;
  std::uint32_t first_file_;
  std::vector<FrameListId> frames_;
  std::vector<ShapeId> shapes_;
  std::vector<RankListId> rank_lists_;
};

}  // namespace

ShapeId Evidence::intern_shape(const Shape& shape) {
  if (shape == Shape{}) return ShapeId::kNone;
  return static_cast<ShapeId>(intern_item(shapes, shape_index_, shape));
}

FrameListId Evidence::intern_frames(const std::vector<Frame>& frames) {
  if (frames.empty()) return FrameListId::kNone;
  return static_cast<FrameListId>(intern_item(frame_lists, frames_index_, frames));
}

RankListId Evidence::intern_rank_list(std::string_view list) {
  const auto found = rank_list_index_.find(list);
  if (found != rank_list_index_.end()) return found->second;
  std::string_view body = base::trim(list);
  if (!body.empty() && body.front() == '[') body.remove_prefix(1);
  if (!body.empty() && body.back() == ']') body.remove_suffix(1);
  std::vector<std::int32_t> ranks;
  bool good = true;
  for (const auto field : base::split(body, ',')) {
    const auto rank = base::to_int<std::int32_t>(base::trim(field));
    if (rank && *rank >= 0 && *rank < kMaxRank) ranks.push_back(*rank);
    else good = good && base::trim(field).empty();
  }
  RankListId id = RankListId::kNone;
  if (good && !ranks.empty()) {
    // Other spellings of one list share its id.
    const auto [it, is_new] = rank_list_index_.emplace(text_of(ranks), static_cast<RankListId>(rank_lists.size()));
    id = it->second;
    if (is_new) rank_lists.push_back(std::move(ranks));
  }
  rank_list_index_.emplace(std::string(list), id);
  return id;
}

void Evidence::add_problem(SourceRef at, std::string what) {
  Problem problem{at, std::move(what), 1};
  const auto [it, is_new] = problem_index_.emplace(key_of(problem), problems.size());
  if (is_new) problems.push_back(std::move(problem));
  else problems[it->second].times++;
}

void Evidence::merge(Evidence&& other) {
  const Remap remap(*this, other);
  for (auto& dump : other.dumps) dump.first_entry += entries.size();
  remap.move(dumps, other.dumps);
  remap.move(entries, other.entries);
  remap.move(files, other.files);
  remap.move(events, other.events);
  remap.move(watchdog, other.watchdog);
  remap.move(stacks, other.stacks);
  remap.move(nccl.comms, other.nccl.comms);
  remap.move(nccl.edges, other.nccl.edges);
  remap.move(nccl.rings, other.nccl.rings);
  remap.move(nccl.trees, other.nccl.trees);
  remap.move(nccl.facts, other.nccl.facts);
  remap.move(ras, other.ras);
  remap.move(facts, other.facts);
  remap.move(tables, other.tables);
  for (auto& p : other.problems) {
    remap.apply(p);
    const auto times = p.times;
    add_problem(p.at, p.what);
    problems[problem_index_[key_of(p)]].times += times - 1;
  }
  other.problems = {};
}

}  // namespace holter::model
