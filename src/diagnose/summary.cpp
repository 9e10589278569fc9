// SPDX-License-Identifier: Apache-2.0
#include "diagnose/summary.h"

#include <algorithm>

#include <fmt/format.h>

namespace holter::diagnose {

namespace {

constexpr std::size_t kMaxTimeline = 400;
constexpr std::size_t kMaxCalls = 60'000;
constexpr std::size_t kMaxNamed = 64;  // ranks of one finding that are sure to be among the calls
constexpr std::size_t kMaxGroups = 400;

class Summary {
 public:
  Summary(const Context& context, const CallAnalysis& analysis, model::Report& report)
      : context_(context), ev_(context.evidence), calls_(analysis.calls), waits_(analysis.waits), report_(report) {}

  void run() {
    job();
    impact();
    timeline();
    calls();
    groups();
    coverage();
    gaps();
    report_.waits = waits_.edges;
  }

 private:
  void job() {
    report_.job.ranks_expected = context_.job.ranks_expected;
    report_.job.ranks_seen = context_.job.seen;
    report_.job.missing_ranks = context_.job.missing();
    report_.job.nodes = context_.job.nodes;
    report_.evidence.files = ev_.files;
    report_.evidence.problems = ev_.problems;
  }

  void impact() {
    if (report_.verdict.certainty != model::Certainty::kNoFault) deadline();
    auto& waiting = report_.impact.waiting;
    if (report_.verdict.kind != model::VerdictKind::kHang) {
      waiting = {};
      return;
    }
    if (!waiting.empty()) {
      const auto culprits = culprit_ranks();
      const auto idle = waiting | culprits;
      waiting = waiting - culprits;
      report_.impact.gpus_idle = static_cast<std::int32_t>(idle.size());
      const double age = std::max(calls_.oldest_pending_s, calls_.proven_age_s);
      if (calls_.oldest_pending_s > 0) report_.impact.gpu_hours_lost = age * static_cast<double>(idle.size()) / 3600;
    }
  }

  model::RankSet culprit_ranks() const {
    std::vector<std::int32_t> ranks;
    if (report_.findings.empty()) return {};
    for (const auto& c : report_.findings.front().culprits) {
      if (c.rank) ranks.push_back(*c.rank);
    }
    return model::RankSet::of(std::move(ranks));
  }

  // The first watchdog to kill the job.
  void deadline() {
    for (const auto& [rank, r] : calls_.ranks) {
      for (const auto& c : r.pending) {
        if (c.created_ns <= 0 || c.timeout_ms <= 0 || c.retired) continue;
        const auto at = c.created_ns + c.timeout_ms * 1'000'000;
        if (report_.decision.expires_ns == 0 || at < report_.decision.expires_ns) report_.decision.expires_ns = at;
      }
    }
  }

  static bool is_milestone(std::string_view kind) {
    return !kind.starts_with("progress.step") && !kind.starts_with("log.");
  }

  void timeline() {
    std::vector<const model::Event*> events;
    for (const auto& e : ev_.events) {
      if (e.time.comparable() && is_milestone(ev_.text(e.kind))) events.push_back(&e);
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const auto* a, const auto* b) { return a->time.job_ns() < b->time.job_ns(); });
    for (const auto* e : events) {
      if (report_.timeline.size() >= kMaxTimeline) break;
      model::TimelineEvent t;
      t.ns = e->time.job_ns();
      t.error_ns = ev_.clocks[e->time.clock].error_ns;
      t.what = fmt::format("{}: {}", ev_.text(e->kind), ev_.text(e->text));
      t.who = value(e->rank) >= 0 ? fmt::format("rank {}", value(e->rank)) : std::string(ev_.text(e->node));
      if (e->at.file != model::FileId::kNone)
        t.evidence = fmt::format("{}:{}", ev_.files[value(e->at.file)].path, e->at.pos);
      report_.timeline.push_back(std::move(t));
    }
  }

  void calls() {
    std::vector<std::int32_t> left_out;
    const auto carried = dumps_to_carry();
    for (std::size_t d = 0; d < ev_.dumps.size(); ++d) {
      if (carried[d]) calls_of(ev_.dumps[d]);
      else if (value(ev_.dumps[d].rank) >= 0) left_out.push_back(value(ev_.dumps[d].rank));
    }
    report_.ranks_without_calls = model::RankSet::of(std::move(left_out));
  }
  // Those of the ranks that findings are about, then the others in order, as far as there is room.
  std::vector<bool> dumps_to_carry() const {
    model::RankSet first;
    for (const auto& finding : report_.findings) {
      if (finding.ranks.size() <= kMaxNamed) first = first | finding.ranks;
    }
    std::vector<bool> carried(ev_.dumps.size());
    std::size_t room = kMaxCalls;
    for (const bool named : {true, false}) {
      for (std::size_t d = 0; d < ev_.dumps.size(); ++d) {
        const auto& dump = ev_.dumps[d];
        if (first.contains(value(dump.rank)) != named || dump.entry_count > room) continue;
        carried[d] = true;
        room -= dump.entry_count;
      }
    }
    return carried;
  }
  void calls_of(const model::FrDump& dump) {
    const auto offset = ev_.clocks[dump.clock].offset_ns;
    for (std::size_t i = dump.first_entry; i < dump.first_entry + dump.entry_count; ++i) {
      const auto& e = ev_.entries[i];
      if (calls_.entry_group[i] == hang::CallState::kNoGroup) continue;
      model::CallSpan span;
      span.rank = calls_.entry_rank[i];
      span.group = calls_.groups[calls_.entry_group[i]].label();
      span.op = ev_.text(e.op);
      span.seq = e.is_p2p ? e.p2p_seq : e.collective_seq;
      span.start_ns = e.started_ns > 0 ? e.started_ns : e.created_ns;
      span.end_ns = e.state == model::OpState::kCompleted ? e.completed_ns : 0;
      if (span.start_ns > 0) span.start_ns = model::without_offset(span.start_ns, offset);
      if (span.end_ns > 0) span.end_ns = model::without_offset(span.end_ns, offset);
      span.state = e.state == model::OpState::kCompleted ? "completed"
                   : e.state == model::OpState::kStarted ? "started"
                                                         : "scheduled";
      report_.calls.push_back(std::move(span));
    }
  }

  void groups() {
    for (const auto& g : calls_.groups) {
      if (report_.job.groups.size() >= kMaxGroups) break;
      if (g.progress.empty()) continue;
      std::int64_t entered = -1, completed = -1;
      std::size_t at_front = 0;
      for (const auto& [rank, p] : g.progress) {
        if (p.entered > entered) entered = p.entered, at_front = 0;
        if (p.entered == entered) ++at_front;
        completed = std::max(completed, p.completed);
      }
      std::string state = entered < 0 ? std::string("sends and receives only")
                                      : fmt::format("{} of {} entered #{}, highest completed #{}", at_front,
                                                    std::max(g.ranks.size(), g.progress.size()), entered, completed);
      report_.job.groups.push_back({g.label(), g.ranks, std::move(state)});
    }
  }

  void coverage() {
    std::int64_t first = 0, last = 0;
    const auto span = [&](std::int64_t ns) {
      if (ns <= 0) return;
      if (first == 0 || ns < first) first = ns;
      last = std::max(last, ns);
    };
    for (const auto& d : ev_.dumps) {
      for (std::size_t i = d.first_entry; i < d.first_entry + d.entry_count; ++i) {
        const auto created = ev_.entries[i].created_ns;
        if (created > 0) span(model::without_offset(created, ev_.clocks[d.clock].offset_ns));
      }
    }
    if (last > first)
      report_.evidence.coverage.emplace_back("flight_recorder", static_cast<double>(last - first) / 1e9);
    first = last = 0;
    for (const auto& e : ev_.events) {
      if (e.time.comparable()) span(e.time.job_ns());
    }
    if (last > first) report_.evidence.coverage.emplace_back("log_events", static_cast<double>(last - first) / 1e9);
  }

  void gaps() {
    auto& gaps = report_.evidence.gaps;
    const auto missing = context_.job.missing();
    if (!missing.empty())
      gaps.push_back(fmt::format("no evidence of {} of {} ranks: {}", missing.size(), *context_.job.ranks_expected,
                                 missing.to_string()));
    if (calls_.from_dumps && context_.job.ranks_expected) {
      const auto without =
          model::RankSet::range(0, *context_.job.ranks_expected - 1) - context_.job.with_dump - missing;
      if (!without.empty()) gaps.push_back(fmt::format("no Flight Recorder dump of ranks {}", without.to_string()));
    }
    if (report_.verdict.kind == model::VerdictKind::kHang && ev_.stacks.empty())
      gaps.push_back("no stacks: the line of code is not known");
  }

  const Context& context_;
  const model::Evidence& ev_;
  const hang::CallState& calls_;
  const hang::WaitGraph& waits_;
  model::Report& report_;
};

}  // namespace

void summarise(const Context& context, const CallAnalysis& analysis, model::Report& report) {
  Summary(context, analysis, report).run();
}

}  // namespace holter::diagnose
