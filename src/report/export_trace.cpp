// SPDX-License-Identifier: Apache-2.0
// Chrome's Trace Event Format (document "Trace Event Format" of the Chromium project), as
// ui.perfetto.dev and chrome://tracing read it. Slices of one thread must nest, so calls of a group
// that overlap get further threads ("lanes") of the same name.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "hang/calls.h"
#include "report/export.h"
#include "report/export_flows.h"
#include "report/export_text.h"
#include "report/json_out.h"
#include "report/words.h"

namespace holter::report {

namespace {

constexpr std::size_t kBuffer = 64 * 1024;
constexpr std::size_t kMaxMarks = 50'000;
constexpr std::int64_t kLogThread = 1;  // of a process; the threads of groups follow
constexpr std::int64_t kMaxLanes = 64;

// A line of a log with its time.
struct Mark {
  std::int64_t ns = 0;
  std::string_view kind;
  std::string name;
  const model::Event* event = nullptr;  // or
  const model::WatchdogRecord* watchdog = nullptr;
  std::int64_t pid = 0;
};

class Trace {
 public:
  Trace(const ExportInput& input, const Sink& sink)
      : ev_(input.evidence),
        report_(input.report),
        sink_(sink),
        show_(input),
        job_(hang::join_job(ev_)),
        calls_(hang::build_calls(ev_, job_)),
        offsets_(entry_offsets(ev_)) {}

  Exported run() {
    find_pending();
    find_processes();
    find_marks();
    if (counts_.calls == 0) return counts_;  // lines of logs alone are no trace
    find_origin();
    flows_ = find_flows(ev_, calls_);
    out_.object([&] {
      out_.field("displayTimeUnit", std::string_view("ms"));
      about();
      out_.key("traceEvents");
      out_.list([&] {
        for (const auto& [rank, pid] : rank_pid_) process(pid, rank_name(rank));
        for (const auto& [node, pid] : node_pid_) process(pid, node.empty() ? "job" : fmt::format("node {}", node));
        root();
        for (const auto& mark : marks_) write(mark);
        for (const auto& dump : ev_.dumps) write(dump);
      });
    });
    out_.drain(sink_);
    return counts_;
  }

 private:
  // --- what there is -----------------------------------------------------------
  bool drawn(std::size_t i) const {
    return calls_.entry_group[i] != hang::CallState::kNoGroup && begin_of(ev_.entries[i]) > 0;
  }
  // Times of the job, from a time of the entry.
  std::int64_t job(std::size_t i, std::int64_t ns) const { return model::without_offset(ns, offsets_[i]); }
  std::int64_t job_begin(std::size_t i) const { return job(i, begin_of(ev_.entries[i])); }
  void find_pending() {
    for (const auto& [rank, r] : calls_.ranks) {
      for (const auto& c : r.pending) {
        if (c.at.kind == model::PosKind::kRecord) pending_.insert({value(c.at.file), c.at.pos});
      }
    }
  }
  void find_processes() {
    std::set<std::int32_t> ranks;
    for (std::size_t i = 0; i < ev_.entries.size(); ++i) {
      if (drawn(i)) ranks.insert(calls_.entry_rank[i]), ++counts_.calls;
      else ++counts_.left_out;
    }
    for (const auto& e : ev_.events) {
      if (is_mark(e) && value(e.rank) >= 0) ranks.insert(value(e.rank));
    }
    for (const auto& w : ev_.watchdog) {
      if (w.time.comparable() && value(w.rank) >= 0) ranks.insert(value(w.rank));
    }
    std::int64_t pid = 0;  // counted from 1: Perfetto takes 0 for the idle process
    for (const auto rank : ranks) rank_pid_[rank] = ++pid;
  }
  bool is_mark(const model::Event& e) const {
    const auto kind = ev_.text(e.kind);
    return e.time.comparable() && e.time.ns > 0 && !kind.starts_with("progress.step") && !kind.starts_with("log.");
  }
  std::int64_t pid_of(model::GlobalRank rank, model::StrId node) {
    if (value(rank) >= 0) return rank_pid_.at(value(rank));
    return pid_of_node(std::string(node == model::StrId::kEmpty ? "" : show_(node)));
  }
  std::int64_t pid_of_node(const std::string& node) {
    const auto next = static_cast<std::int64_t>(rank_pid_.size() + node_pid_.size() + 1);
    return node_pid_.try_emplace(node, next).first->second;
  }
  void find_marks() {
    const auto add = [&](Mark mark) {
      if (marks_.size() >= kMaxMarks) ++counts_.left_out;
      else marks_.push_back(std::move(mark));
    };
    for (const auto& w : ev_.watchdog) {
      if (!w.time.comparable() || w.time.ns <= 0) continue;
      add({w.time.job_ns(), "watchdog", fmt::format("watchdog: {} #{} timed out", ev_.text(w.op), w.seq), nullptr, &w,
           pid_of(w.rank, w.node)});
    }
    for (const auto& e : ev_.events) {
      if (is_mark(e)) add({e.time.job_ns(), ev_.text(e.kind), name_of(e), &e, nullptr, pid_of(e.rank, e.node)});
    }
    counts_.marks = marks_.size();
  }
  std::string name_of(const model::Event& e) const {
    std::string name(ev_.text(e.kind));
    for (const auto& [key, v] : e.fields) {
      const auto k = ev_.text(key);
      if (k == "xid" || k == "sxid" || k == "exception") name += fmt::format(" {}", ev_.text(v));
    }
    return name;
  }
  void find_origin() {
    const auto see = [&](std::int64_t ns) {
      if (ns > 0 && (origin_ns_ == 0 || ns < origin_ns_)) origin_ns_ = ns;
    };
    for (std::size_t i = 0; i < ev_.entries.size(); ++i) {
      if (!drawn(i)) continue;
      see(job_begin(i));
      if (ev_.entries[i].created_ns > 0) see(job(i, ev_.entries[i].created_ns));
    }
    for (const auto& mark : marks_) see(mark.ns);
    if (const auto* first = first_failure()) see(first->first_ns), pid_of_node("");
  }
  const model::Finding* first_failure() const {
    const auto& all = report_.findings;
    return !all.empty() && all.front().first_ns > 0 ? &all.front() : nullptr;
  }

  // --- writing -----------------------------------------------------------------
  double us(std::int64_t ns) const { return static_cast<double>(ns - origin_ns_) / 1000.0; }

  // One event; what `rest` writes follows the fields that all have.
  template <typename Rest>
  void event(std::string_view phase, std::string_view name, std::int64_t pid, std::int64_t tid, Rest rest) {
    out_.object([&] {
      out_.field("ph", phase);
      out_.field("name", name);
      out_.field("pid", pid);
      out_.field("tid", tid);
      rest();
    });
    out_.drain(sink_, kBuffer);
  }
  void time(std::int64_t ns) { out_.key("ts"), out_.real(us(ns)); }

  void about() {
    out_.object("otherData", [&] {
      out_.field("tool", "holter " + report_.tool_version);
      out_.field("time zero", time_text(origin_ns_, true));
      const auto corrected =
          std::count_if(ev_.clocks.begin(), ev_.clocks.end(), [](const auto& c) { return c.offset_ns != 0; });
      if (corrected > 0) out_.field("clocks corrected", static_cast<std::int64_t>(corrected));
      out_.field("verdict", one_line(report_.verdict.summary));
      if (counts_.left_out > 0) out_.field("left out", static_cast<std::int64_t>(counts_.left_out));
    });
  }
  std::string rank_name(std::int32_t rank) {
    const auto node = job_.node_of.find(rank);
    return node == job_.node_of.end() ? fmt::format("rank {}", rank)
                                      : fmt::format("rank {} ({})", rank, show_(node->second));
  }
  void process(std::int64_t pid, std::string_view name) {
    event("M", "process_name", pid, 0, [&] { out_.object("args", [&] { out_.field("name", name); }); });
    event("M", "process_sort_index", pid, 0, [&] { out_.object("args", [&] { out_.field("sort_index", pid); }); });
    thread(pid, kLogThread, "log, watchdog and kernel lines");
  }
  void thread(std::int64_t pid, std::int64_t tid, std::string_view name) {
    event("M", "thread_name", pid, tid, [&] { out_.object("args", [&] { out_.field("name", name); }); });
    event("M", "thread_sort_index", pid, tid, [&] { out_.object("args", [&] { out_.field("sort_index", tid); }); });
  }

  void root() {
    const auto* f = first_failure();
    if (!f) return;
    event("i", fmt::format("first failure: {}", f->cause), pid_of_node(""), kLogThread, [&] {
      out_.field("cat", std::string_view("finding"));
      out_.field("s", std::string_view("g"));
      time(f->first_ns);
      out_.object("args", [&] {
        out_.field("title", one_line(f->title));
        out_.field("certainty", std::string_view(model::to_string(f->certainty)));
        if (!f->evidence.empty()) out_.field("evidence", one_line(f->evidence.front().source));
      });
    });
  }

  void write(const Mark& mark) {
    event("i", std::string(show_(mark.name)), mark.pid, kLogThread, [&] {
      const auto kind = mark.kind.substr(0, mark.kind.find('.'));
      out_.field("cat", std::string(show_(kind)));
      out_.field("s", std::string_view("t"));
      time(mark.ns);
      out_.object("args", [&] {
        const auto at = mark.event ? mark.event->at : mark.watchdog->at;
        out_.field("text", show_(mark.event ? mark.event->text : mark.watchdog->text));
        out_.field("evidence", show_.place(at));
        if (!mark.watchdog) return;
        if (mark.watchdog->timeout_ms >= 0) out_.field("timeout_ms", mark.watchdog->timeout_ms);
        if (mark.watchdog->ran_ms >= 0) out_.field("ran_ms", mark.watchdog->ran_ms);
      });
    });
  }

  void write(const model::FrDump& dump) {
    std::map<std::uint32_t, std::vector<std::size_t>> by_group;
    for (std::size_t i = dump.first_entry; i < dump.first_entry + dump.entry_count; ++i) {
      if (drawn(i)) by_group[calls_.entry_group[i]].push_back(i);
    }
    for (auto& [group, entries] : by_group) {
      std::stable_sort(entries.begin(), entries.end(), [&](auto a, auto b) { return job_begin(a) < job_begin(b); });
      std::vector<std::int64_t> lanes;  // until when each is taken
      for (const auto i : entries) {
        const auto begin = job_begin(i);
        const auto lane = free_lane(lanes, begin);
        write(dump, i, kLogThread + 1 + group * kMaxLanes + lane, std::max(begin, lanes[lane]), lanes[lane]);
      }
      const std::string label(show_(calls_.groups[group].label()));
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        thread(rank_pid_.at(calls_.entry_rank[entries.front()]),
               kLogThread + 1 + group * kMaxLanes + static_cast<std::int64_t>(lane),
               lane == 0 ? label : fmt::format("{} ({})", label, lane + 1));
      }
    }
  }
  // The first lane that is free; where all are taken, the one that is free soonest.
  static std::size_t free_lane(std::vector<std::int64_t>& lanes, std::int64_t begin) {
    const auto free = std::find_if(lanes.begin(), lanes.end(), [&](auto until) { return until <= begin; });
    if (free != lanes.end()) return static_cast<std::size_t>(free - lanes.begin());
    if (lanes.size() < kMaxLanes) {
      lanes.push_back(0);
      return lanes.size() - 1;
    }
    return static_cast<std::size_t>(std::min_element(lanes.begin(), lanes.end()) - lanes.begin());
  }

  bool is_unfinished(const model::FrDump& dump, std::size_t i) const {
    const bool coalesced = ev_.entries[i].is_p2p && ev_.text(ev_.entries[i].op).starts_with("coalesced");
    if (coalesced) return ev_.entries[i].state != model::OpState::kCompleted;
    return pending_.contains({value(dump.file), i - dump.first_entry});
  }
  static std::string_view state_of(const model::FrEntry& e) {
    switch (e.state) {
      case model::OpState::kScheduled: return "scheduled";
      case model::OpState::kStarted: return "started";
      case model::OpState::kCompleted: return "completed";
      case model::OpState::kUnknown: break;
    }
    return "unknown";
  }

  // A call without an end is open ("B" without "E"): viewers draw it up to the end of the trace.
  void write(const model::FrDump& dump, std::size_t i, std::int64_t tid, std::int64_t begin,
             std::int64_t& taken_until) {
    const auto& e = ev_.entries[i];
    const auto pid = rank_pid_.at(calls_.entry_rank[i]);
    const bool open = is_unfinished(dump, i);
    const auto end = e.completed_ns > 0 ? std::max(begin, job(i, e.completed_ns)) : begin;
    if (open) ++counts_.unfinished;
    std::string name(show_(e.op));
    if (name.empty()) name = "call";
    if (open) name += fmt::format(" (unfinished, {})", state_of(e));
    event(open ? "B" : "X", name, pid, tid, [&] {
      out_.field("cat", std::string_view(e.is_p2p ? "p2p" : "collective"));
      if (open) out_.field("cname", std::string_view("terrible"));
      time(begin);
      if (!open) out_.key("dur"), out_.real(static_cast<double>(end - begin) / 1000.0);
      out_.object("args", [&] { call_args(dump, i, open); });
    });
    taken_until = open ? INT64_MAX : end;
    if (const auto flow = flows_.find(i); flow != flows_.end()) write(flow->second, pid, tid, begin, e.is_p2p);
  }
  void call_args(const model::FrDump& dump, std::size_t i, bool open) {
    const auto& e = ev_.entries[i];
    const auto& shape = ev_.shapes[static_cast<std::uint32_t>(e.shape)];
    const auto number = [&](std::string_view name, std::int64_t n) {
      if (n >= 0) out_.field(name, n);
    };
    out_.field("state", state_of(e));
    if (open) out_.key("unfinished"), out_.flag(true);
    if (!open && e.completed_ns <= 0) out_.field("end", std::string_view("not recorded"));
    number("seq", e.is_p2p ? e.p2p_seq : e.collective_seq);
    number("op_id", e.op_id);
    out_.field("group", show_(calls_.groups[calls_.entry_group[i]].label()));
    out_.field("input", show_(shape.input_sizes));
    out_.field("input_dtype", show_(shape.input_dtypes));
    out_.field("output", show_(shape.output_sizes));
    out_.field("output_dtype", show_(shape.output_dtypes));
    if (e.created_ns > 0 && e.created_ns != begin_of(e)) out_.key("enqueued_us"), out_.real(us(job(i, e.created_ns)));
    if (e.timeout_ms > 0) out_.field("timeout_ms", std::int64_t{e.timeout_ms});
    out_.field("evidence", show_.place({dump.file, model::PosKind::kRecord, i - dump.first_entry}));
  }
  void write(const Flow& flow, std::int64_t pid, std::int64_t tid, std::int64_t ns, bool p2p) {
    const char phase = static_cast<char>(flow.step);
    event({&phase, 1}, p2p ? "send to receive" : "members", pid, tid, [&] {
      out_.field("cat", std::string_view("flow"));
      out_.field("id", std::int64_t{flow.id});
      if (flow.step == FlowStep::kEnd) out_.field("bp", std::string_view("e"));
      time(ns);
    });
  }

  const model::Evidence& ev_;
  const model::Report& report_;
  const Sink& sink_;
  ExportText show_;
  hang::Job job_;
  hang::CallState calls_;
  std::vector<std::int64_t> offsets_;                          // of the clock of each entry
  std::set<std::pair<std::uint32_t, std::uint64_t>> pending_;  // file and record
  std::map<std::int32_t, std::int64_t> rank_pid_;
  std::map<std::string, std::int64_t> node_pid_;  // by name as shown; "": the job
  std::vector<Mark> marks_;
  std::unordered_map<std::size_t, Flow> flows_;
  std::int64_t origin_ns_ = 0;
  JsonOut out_;
  Exported counts_;
};

}  // namespace

Exported to_perfetto(const ExportInput& input, const Sink& sink) { return Trace(input, sink).run(); }

}  // namespace holter::report
