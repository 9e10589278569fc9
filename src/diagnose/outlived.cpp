// SPDX-License-Identifier: Apache-2.0
#include "diagnose/outlived.h"

#include <algorithm>

#include <fmt/format.h>

namespace holter::diagnose {

namespace {

// Longer than a rank goes on after the fault that stops it: prefetched batches, a checkpoint, one time-out.
constexpr std::int64_t kSurvivedNs = 15LL * 60 * 1'000'000'000;

// The last progress that one kind of clock shows.
struct Progress {
  std::int64_t ns = 0;
  std::uint32_t clock = 0;
  model::SourceRef at;
  std::string text;
  void take(std::int64_t when, std::uint32_t of, model::SourceRef where, std::string_view what) {
    if (when <= ns) return;
    ns = when, clock = of, at = where, text = what;
  }
};

class Outlived {
 public:
  Outlived(const Context& context, const hang::CallState& calls) : context_(context), ev_(context.evidence) {
    for (const auto& d : ev_.dumps) {
      for (std::size_t i = d.first_entry; i < d.first_entry + d.entry_count; ++i) completed(d, i, calls);
    }
    for (const auto& f : ev_.facts) {
      if (context.text(f.key) == "collect.process" && f.has_number) start(f);
    }
    for (const auto& e : ev_.events) {
      if (context.text(e.kind) != "progress.step" || !e.time.comparable()) continue;
      (e.time.zoned ? zoned_ : naive_).take(e.time.job_ns(), e.time.clock, e.at, context.text(e.text));
    }
  }

  void judge(model::Finding& f) const {
    if (f.first_ns <= 0 || f.aside || f.cause == "no_fault") return;
    const auto* event = event_of(f);
    if (event == nullptr) return;
    // A broken device stays broken for the next job.
    const bool passes = f.severity == model::Severity::kInfo || f.severity == model::Severity::kApplication;
    if (passes && event->time.zoned && started_ns_ > 0 && f.first_ns + model::kUnalignedNs < started_ns_) {
      past(f);
      f.against.push_back(cite(context_, started_at_, "started_ns", "the processes of the job were started later"));
      return;
    }
    for (const auto* progress : {&zoned_, &naive_}) {
      const bool zoned = progress == &zoned_;
      if (progress->ns == 0 || !certain(*event, progress->clock, zoned)) continue;
      const auto margin = kSurvivedNs + model::uncertainty_ns(clock(event->time.clock), clock(progress->clock));
      if (progress->ns - f.first_ns <= margin) continue;
      past(f);
      f.against.push_back(
          cite(context_, progress->at, progress->text,
               fmt::format("the job still made progress {} min later", (progress->ns - f.first_ns) / 60'000'000'000)));
      return;
    }
  }

 private:
  const model::Clock& clock(std::uint32_t i) const { return ev_.clocks[i]; }

  static void past(model::Finding& f) {
    f.aside = true;
    f.severity = model::Severity::kInfo;
  }

  // The first process of the job.
  void start(const model::Fact& f) {
    const auto ns = static_cast<std::int64_t>(f.number * 1e9);
    if (started_ns_ == 0 || ns < started_ns_) started_ns_ = ns, started_at_ = f.at;
  }

  void completed(const model::FrDump& d, std::size_t i, const hang::CallState& calls) {
    const auto& e = ev_.entries[i];
    if (e.state != model::OpState::kCompleted || calls.entry_group[i] == hang::CallState::kNoGroup) return;
    const auto ns = std::max(e.completed_ns, e.created_ns);
    if (ns <= 0) return;
    const auto when = model::without_offset(ns, clock(d.clock).offset_ns);
    if (when <= zoned_.ns) return;
    zoned_.take(when, d.clock, {d.file, model::PosKind::kRecord, i - d.first_entry},
                fmt::format("{} #{} of {} completed", context_.text(e.op), e.collective_seq,
                            calls.groups[calls.entry_group[i]].label()));
  }

  // The line whose time the finding goes by.
  const model::Event* event_of(const model::Finding& f) const {
    for (const auto& e : ev_.events) {
      if (!e.time.comparable() || e.time.job_ns() != f.first_ns) continue;
      const bool cited = std::any_of(f.evidence.begin(), f.evidence.end(), [&](const model::Citation& c) {
        return c.at.file == e.at.file && c.at.pos == e.at.pos;
      });
      if (cited) return &e;
    }
    return nullptr;
  }

  bool certain(const model::Event& event, std::uint32_t other, bool other_zoned) const {
    if (event.time.zoned && other_zoned) return true;
    const auto& a = clock(event.time.clock);
    const auto& b = clock(other);
    if (a.set != 0 && a.set == b.set) return true;
    // Two local times of one host.
    return event.time.zoned == other_zoned && a.host != 0 && a.host == b.host;
  }

  const Context& context_;
  const model::Evidence& ev_;
  Progress zoned_, naive_;
  std::int64_t started_ns_ = 0;
  model::SourceRef started_at_;
};

}  // namespace

void set_outlived_aside(const Context& context, const hang::CallState& calls, std::vector<model::Finding>& findings) {
  const Outlived outlived(context, calls);
  for (auto& f : findings) outlived.judge(f);
}

}  // namespace holter::diagnose
