// SPDX-License-Identifier: Apache-2.0
#include "dump.h"

#include <array>
#include <map>

#include "writer.h"

namespace holter::generate {

namespace {

constexpr std::array<const char*, 8> kNames{
    "all_reduce", "_all_gather_base", "_reduce_scatter_base", "all_to_all", "broadcast", "all_reduce_barrier", "send",
    "recv"};

struct Counters {
  std::int64_t collective = 0, p2p = 0, op = 0;
  std::int64_t enqueued = -1, started = -1, completed = -1;  // as pg_status counts
};

class DumpWriter {
 public:
  DumpWriter(const Job& job, std::int32_t rank, const DumpOptions& options)
      : job_(job), rank_(rank), options_(options), w_(options.json) {}

  std::string write() {
    collect();
    w_.begin_dict();
    w_.key("version"), w_.string("2.9");
    w_.key("pg_config"), write_config();
    w_.key("nccl_version"), w_.string("2.27.3");
    w_.key("pg_status"), write_status();
    if (!entries_.empty() || !options_.json) w_.key("entries"), write_entries();
    w_.end_dict();
    return w_.done();
  }

 private:
  struct Entry {
    const Op* op;
    std::int64_t record, collective, p2p, id;
  };

  bool before(double t) const { return t <= options_.at; }

  void collect() {
    std::int64_t record = 0;
    for (const auto& op : job_.programs[static_cast<std::size_t>(rank_)]) {
      if (!before(op.enqueued)) break;
      auto& c = counters_[op.group];
      (op.is_p2p() ? c.p2p : c.collective) += 1;
      ++c.op;
      const auto seq = op.is_p2p() ? c.p2p : c.collective;
      c.enqueued = seq;
      if (options_.timing && before(op.started)) c.started = seq;
      if (before(op.completed)) c.completed = seq;
      if (!options_.only_active || !before(op.completed)) entries_.push_back({&op, record, c.collective, c.p2p, c.op});
      ++record;
    }
    if (entries_.size() > static_cast<std::size_t>(options_.entries)) {
      entries_.erase(entries_.begin(), entries_.end() - options_.entries);
    }
  }

  // Ids count the groups this rank belongs to; some were made for other backends.
  std::int32_t id_of(std::uint32_t group) const {
    const auto& own = job_.groups_of[static_cast<std::size_t>(rank_)];
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] == group) return static_cast<std::int32_t>(i + i / 2);
    }
    return -1;
  }

  static const std::string& ranks_text(const Group& group) {
    static std::map<const Group*, std::string> cache;
    auto& text = cache[&group];
    if (!text.empty()) return text;
    text = "[";
    for (const auto r : group.ranks) text += (text.size() > 1 ? ", " : "") + std::to_string(r);
    return text += "]";
  }

  void write_config() {
    w_.begin_dict();
    for (const auto g : job_.groups_of[static_cast<std::size_t>(rank_)]) {
      const auto& group = job_.groups[g];
      w_.key(group.name), w_.begin_dict();
      w_.key("name"), w_.string(group.name);
      w_.key("desc"), w_.string(group.desc);
      w_.key("ranks"), w_.string(ranks_text(group));
      w_.end_dict();
    }
    w_.end_dict();
  }

  void status_number(const char* key, std::int64_t v) {
    w_.key(key);
    if (options_.json) w_.string(std::to_string(v));
    else w_.number(v);
  }

  void write_status() {
    w_.begin_dict();
    for (const auto g : job_.groups_of[static_cast<std::size_t>(rank_)]) {
      const auto& c = counters_[g];
      w_.key(std::to_string(id_of(g))), w_.begin_dict();
      status_number("last_enqueued_collective", c.enqueued);
      status_number("last_started_collective", c.started);
      status_number("last_completed_collective", c.completed);
      w_.end_dict();
    }
    w_.end_dict();
  }

  std::int64_t ns(double t) const { return options_.epoch_ns + static_cast<std::int64_t>(t * 1e9); }
  void time(const char* key, double t, bool known) {
    w_.key(key);
    if (known && before(t)) w_.number(ns(t));
    else w_.none();
  }

  void sizes(const char* key, std::uint64_t elements) {
    w_.key(key), w_.begin_list(), w_.begin_list();
    w_.number(static_cast<std::int64_t>(elements));
    w_.end_list(), w_.end_list();
  }

  void dtypes(const char* key) {
    w_.key(key), w_.begin_list();
    w_.string("BFloat16");
    w_.end_list();
  }

  std::string name_of(const Op& op) const {
    std::string name = std::string("nccl:") + kNames[static_cast<std::size_t>(op.kind)];
    if (!op.is_p2p()) return name;
    const bool send = op.kind == OpKind::kSend;
    return name + " " + std::to_string(job_.index_in(op.group, rank_)) + (send ? "->" : "<-") + std::to_string(op.peer);
  }

  void write_entries() {
    w_.begin_list();
    for (const auto& e : entries_) write_entry(e);
    w_.end_list();
  }

  void write_entry(const Entry& e) {
    const auto& op = *e.op;
    const auto& group = job_.groups[op.group];
    const auto members = group.ranks.size();
    const bool done = before(op.completed);
    const bool started = before(op.started);
    w_.begin_dict();
    if (options_.frames > 0) w_.key("frames"), write_frames(op);
    w_.key("record_id"), w_.number(e.record);
    w_.key("pg_id"), w_.number(id_of(op.group));
    w_.key("process_group"), w_.begin_pair(), w_.string(group.name), w_.string(group.desc), w_.end_pair();
    w_.key("thread_name"), w_.string("python3");
    w_.key("thread_id"), w_.string("139862204102400");
    w_.key("collective_seq_id"), w_.number(e.collective);
    w_.key("p2p_seq_id"), w_.number(e.p2p);
    w_.key("op_id"), w_.number(e.id);
    w_.key("profiling_name"), w_.string(name_of(op));
    w_.key("time_created_ns"), w_.number(ns(op.enqueued));
    if (options_.timing && done) w_.key("duration_ms"), w_.real((op.completed - op.started) * 1e3);
    const bool scatter = op.kind == OpKind::kReduceScatter, gather = op.kind == OpKind::kAllGather;
    sizes("input_sizes", scatter ? op.elements * std::uint64_t{members} : op.elements);
    dtypes("input_dtypes");
    sizes("output_sizes", gather ? op.elements * std::uint64_t{members} : op.elements);
    dtypes("output_dtypes");
    w_.key("state"), w_.string(done ? "completed" : started && options_.timing ? "started" : "scheduled");
    time("time_discovered_started_ns", op.started, options_.timing);
    time("time_discovered_completed_ns", op.completed, true);
    w_.key("retired"), w_.boolean(done);
    w_.key("timeout_ms"), w_.number(options_.timeout_ms);
    w_.key("is_p2p"), w_.boolean(op.is_p2p());
    w_.end_dict();
  }

  void write_frames(const Op& op) {
    w_.begin_list();
    for (int i = 0; i < options_.frames; ++i) {
      w_.begin_dict();
      const bool top = i == 0;
      w_.key("name"), w_.string(top ? kNames[static_cast<std::size_t>(op.kind)] : "call_" + std::to_string(i));
      w_.key("filename"), w_.string(top ? "/opt/torch/distributed/distributed_c10d.py"
                                        : "/job/layers/module_" + std::to_string(i % 7) + ".py");
      w_.key("line"), w_.number(100 + i * 17 + static_cast<int>(op.kind) + (i == 3 ? op.step % 5 : 0));
      w_.end_dict();
    }
    w_.end_list();
  }

  const Job& job_;
  std::int32_t rank_;
  const DumpOptions& options_;
  Writer w_;
  std::map<std::uint32_t, Counters> counters_;
  std::vector<Entry> entries_;
};

}  // namespace

std::string write_dump(const Job& job, std::int32_t rank, const DumpOptions& options) {
  return DumpWriter(job, rank, options).write();
}

}  // namespace holter::generate
