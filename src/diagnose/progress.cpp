// SPDX-License-Identifier: Apache-2.0
#include "diagnose/progress.h"

#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/places.h"

namespace holter::diagnose {

namespace {

// The last words of one rank's log.
struct RankLog {
  const model::Event* step = nullptr;
  const model::Event* epoch_end = nullptr;
  const model::Event* phase = nullptr;                // the last one
  std::map<std::string, const model::Event*> phases;  // last event of each phase
};

std::string field(const Context& context, const model::Event& e, std::string_view name) {
  for (const auto& [key, v] : e.fields) {
    if (context.text(key) == name) return std::string(context.text(v));
  }
  return "";
}

class ProgressDiagnosis {
 public:
  ProgressDiagnosis(const Context& context, const CallAnalysis& analysis, Output& out)
      : context_(context), calls_(analysis.calls), out_(out) {
    for (const auto& [rank, r] : calls_.ranks) {
      if (!r.pending.empty()) waiting_.insert(rank);
    }
    read_logs();
  }

  void run() {
    if (waiting_.empty()) return;
    model::RankSet others;
    for (const auto& [rank, log] : logs_) {
      if (!waiting_.contains(rank)) others.insert(rank);
    }
    if (others.empty()) return;
    if (left_early(others)) return;
    if (ran_out_of_data(others)) return;
    still_busy(others);
  }

 private:
  void read_logs() {
    for (const auto& e : context_.evidence.events) {
      const auto kind = context_.text(e.kind);
      if (!kind.starts_with("progress.") || value(e.rank) < 0) continue;
      auto& log = logs_[value(e.rank)];
      if (kind == "progress.step") {
        log.step = &e;
      } else if (kind == "progress.epoch_end") {
        log.epoch_end = &e;
      } else if (kind == "progress.phase") {
        log.phase = &e;
        log.phases[field(context_, e, "phase")] = &e;
      }
    }
  }

  const hang::Call& first_call() const { return calls_.ranks.at(waiting_.first()).pending.front(); }
  bool is_barrier(const hang::Call& c) const {
    const auto key = hang::op_key(context_.text(c.op));
    return key.find("barrier") != std::string::npos || (key == "allreduce" && c.numel_in == 1 && c.numel_out <= 1);
  }

  model::Finding finding(std::string_view cause, double confidence, const model::RankSet& ranks) {
    model::Finding f;
    f.cause = cause;
    f.confidence = confidence;
    f.kind = model::VerdictKind::kHang;
    f.depth = model::Depth::kReason;
    f.owner = model::Owner::kUserCode;
    f.restart = model::Restart::kNo;
    f.ranks = ranks;
    f.local = true;
    f.culprits = rank_culprits(context_, ranks);
    f.explains_causes = {"host_stuck", "data_path_stall", "unknown", "rank_never_joined"};
    return f;
  }
  void cite_waiter(model::Finding& f) {
    f.evidence.push_back(cite_call(context_, calls_, first_call(), "where the waiting ranks stand"));
  }
  void cite_log(model::Finding& f, const model::Event* e, std::string_view why) {
    if (e && f.evidence.size() < 6) f.evidence.push_back(cite(context_, *e, why));
  }

  // The others passed, finished and went; those who wait made a call more.
  bool left_early(const model::RankSet& others) {
    model::RankSet left;
    for (const auto r : others.to_vector()) {
      const auto& log = logs_.at(r);
      if (log.phases.contains("exit")) left.insert(r);
    }
    if (left.size() < waiting_.size() || left.size() * 2 < others.size()) return false;
    const auto& call = first_call();
    const bool barrier = is_barrier(call);
    const bool saved = logs_.contains(waiting_.first()) && logs_.at(waiting_.first()).phases.contains("checkpoint") &&
                       !logs_.at(left.first()).phases.contains("checkpoint");
    const bool rank0 = waiting_ == model::RankSet{0};
    auto f =
        finding(rank0 && (barrier || saved) ? "rank0_only_collective" : "rank_divergent_control_flow", 0.7, waiting_);
    f.title = fmt::format(
        "only {} waits in {} ({}); the other ranks, {}, had passed their last collective and exited: {} made one call more{}",
        who(context_, waiting_), barrier ? "a barrier" : context_.text(call.op), call_name(context_, calls_, call),
        left.to_string(), who(context_, waiting_),
        saved ? ", beside the checkpoint that it alone writes" : " in a branch of its own");
    f.culprits.push_back(
        {.kind = model::CulpritKind::kSoftware,
         .name = saved ? "checkpoint save in a branch of one rank" : "collective in a branch of some ranks"});
    cite_waiter(f);
    if (const auto mine = logs_.find(waiting_.first()); mine != logs_.end()) {
      for (const auto& [phase, e] : mine->second.phases) cite_log(f, e, "what the waiting rank did before");
    }
    for (const auto r : left.to_vector()) {
      if (r < 64) cite_log(f, logs_.at(r).phases.at("exit"), "this rank is done");
    }
    f.actions.push_back(
        {saved
             ? "Call the checkpoint save (save_checkpoint) on every rank: it contains a barrier; keep only the file write inside the rank-0 branch. Raising the timeout does not help"
             : "Make every rank issue the same collectives: remove the call from the branch that only some ranks take",
         "", model::Risk::kNone});
    out_.findings.push_back(std::move(f));
    return true;
  }

  // Their epoch ended, or they evaluate already, while the rest is still in a training step.
  bool ran_out_of_data(const model::RankSet& others) {
    model::RankSet ended;
    for (const auto r : others.to_vector()) {
      const auto& log = logs_.at(r);
      if (log.epoch_end || log.phases.contains("evaluation")) ended.insert(r);
    }
    model::RankSet stepping;
    for (const auto r : waiting_.to_vector()) {
      const auto log = logs_.find(r);
      if (log != logs_.end() && log->second.step && !log->second.epoch_end &&
          !log->second.phases.contains("evaluation"))
        stepping.insert(r);
    }
    if (ended.empty() || stepping.empty() || ended.size() > stepping.size()) return false;
    const auto& odd = logs_.at(ended.first());
    auto f = finding("uneven_inputs", 0.75, ended);
    const auto batches = odd.epoch_end ? field(context_, *odd.epoch_end, "batches") : "";
    f.title = fmt::format(
        "uneven inputs: {} had fewer batches, ended its epoch{}{} and went on, while {} still wait in {} of a training step",
        who(context_, ended), batches.empty() ? "" : " after " + batches + " batches",
        odd.step && batches.empty() ? " at step " + field(context_, *odd.step, "step") : "", who(context_, stepping),
        call_name(context_, calls_, calls_.ranks.at(stepping.first()).pending.front()));
    cite_log(f, odd.epoch_end, "this rank ran out of batches");
    if (const auto e = odd.phases.find("evaluation"); e != odd.phases.end())
      cite_log(f, e->second, "and is in the next phase");
    cite_log(f, logs_.at(stepping.first()).step, "the others are still in a step");
    cite_waiter(f);
    f.actions.push_back(
        {"Equalise the batches per rank (drop_last, repeat to the minimum, or the Join context); the timeout is not the problem",
         "", model::Risk::kNone});
    out_.findings.push_back(std::move(f));
    return true;
  }

  struct Busy {
    std::string_view phase, cause, words, action;
  };
  static constexpr Busy kBusy[] = {
      {"data_prep", "barrier_long_prep", "still prepares data",
       "Prepare the data before the process group starts, or outside the job; if it must run here, give this barrier a timeout of its own"},
      {"checkpoint", "checkpoint_stall", "is still writing a checkpoint",
       "Write checkpoints asynchronously or sharded; check the storage that it writes to"},
      {"compile", "compile_skew", "is still compiling",
       "Warm the compile cache on every rank before the first collective"},
      {"graph_capture", "compile_skew", "is still capturing graphs",
       "Warm up on every rank before the first collective"},
      {"load_weights", "barrier_long_prep", "is still loading weights",
       "Load the weights before the collective, or from local storage"},
  };

  // A minority that started something long and has not ended it.
  void still_busy(const model::RankSet& others) {
    if (others.size() > waiting_.size()) return;
    for (const auto& busy : kBusy) {
      model::RankSet ranks;
      const model::Event* sample = nullptr;
      for (const auto r : others.to_vector()) {
        const auto& log = logs_.at(r);
        if (!log.phase || field(context_, *log.phase, "phase") != busy.phase ||
            field(context_, *log.phase, "edge") == "end")
          continue;
        ranks.insert(r);
        sample = log.phase;
      }
      if (ranks.empty()) continue;
      auto f = finding(busy.cause, 0.65, ranks);
      f.title = fmt::format("{} {} while {} wait{} in {}", who(context_, ranks), busy.words, who(context_, waiting_),
                            waiting_.size() == 1 ? "s" : "", call_name(context_, calls_, first_call()));
      cite_log(f, sample, "its last word");
      cite_waiter(f);
      f.actions.push_back({std::string(busy.action), "", model::Risk::kNone});
      out_.findings.push_back(std::move(f));
    }
  }

  const Context& context_;
  const hang::CallState& calls_;
  Output& out_;
  model::RankSet waiting_;
  std::map<std::int32_t, RankLog> logs_;
};

}  // namespace

void diagnose_progress(const Context& context, const CallAnalysis& analysis, Output& out) {
  ProgressDiagnosis(context, analysis, out).run();
}

}  // namespace holter::diagnose
