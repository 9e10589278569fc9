// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/log_failures.h"
#include "diagnose/outlived.h"

namespace holter::diagnose {

namespace {

constexpr std::string_view kJob = "run.finished.job";
constexpr std::string_view kProcess = "run.finished.process";
constexpr std::uint64_t kLastLines = 50;  // of a log, among which its end stands

class Survived {
 public:
  Survived(const Context& context, Output& output) : context_(context), out_(output) {
    const auto last = last_failures();
    for (const auto& e : context.evidence.events) {
      const auto kind = context.text(e.kind);
      if (kind != kJob && kind != kProcess) continue;
      // What fails afterwards did not end well.
      const auto failed = last.find(value(e.at.file));
      if (failed == last.end() || failed->second < e.at.pos) ends_[value(e.at.file)].push_back(&e);
    }
  }

  void run() {
    if (ends_.empty()) return;
    for (auto& f : out_.findings) judge(f);
    tell();
  }

 private:
  // The last line of each log that tells of a failure.
  std::map<std::uint32_t, std::uint64_t> last_failures() const {
    std::map<std::uint32_t, std::uint64_t> last;
    const auto note = [&](const model::SourceRef& at) {
      auto& pos = last[value(at.file)];
      pos = std::max(pos, at.pos);
    };
    for (const auto& failure : log_failures(context_)) {
      const bool state = failure.signature && failure.signature->state;
      if (failure.cause == "no_fault" || state) continue;
      for (const auto* e : failure.events) {
        if (field_text(context_, *e, "handled") != "yes") note(e->at);
      }
    }
    for (const auto& w : context_.evidence.watchdog) note(w.at);
    for (const auto& e : context_.evidence.events) {
      const auto kind = context_.text(e.kind);
      if (kind.starts_with("watchdog.") || kind == "xid") note(e.at);
    }
    return last;
  }

  static bool holds_for_a_finished_run(const model::Finding& f) {
    using K = model::VerdictKind;
    return f.kind == K::kSlow || f.kind == K::kLatency || f.kind == K::kAccuracy || f.kind == K::kNumeric ||
           f.kind == K::kNone || f.kind == K::kMemory;
  }

  // The end of the run that stands after the citation in its log.
  const model::Event* end_after(const model::Citation& c, const model::RankSet& ranks) const {
    if (c.at.file == model::FileId::kNone || c.at.kind != model::PosKind::kLine) return nullptr;
    const auto found = ends_.find(value(c.at.file));
    if (found == ends_.end()) return nullptr;
    for (const auto* end : found->second) {
      if (end->at.pos <= c.at.pos) continue;
      const bool whole_job = context_.text(end->kind) == kJob;
      // A communicator may be destroyed in the middle of a run.
      const bool own = is_last(*end) && (value(end->rank) < 0 ? ranks.empty() : ranks.contains(value(end->rank)));
      if (whole_job || own) return end;
    }
    return nullptr;
  }

  void judge(model::Finding& f) {
    if (f.aside || f.evidence.empty() || holds_for_a_finished_run(f)) return;
    const model::Event* end = nullptr;
    for (const auto& c : f.evidence) {
      end = end_after(c, f.ranks);
      if (end == nullptr) return;
    }
    f.aside = true;
    f.severity = model::Severity::kInfo;
    f.against.push_back(cite(context_, *end, "the run ended well after it"));
  }

  bool is_last(const model::Event& end) const {
    return end.at.pos + kLastLines >= context_.evidence.files[value(end.at.file)].lines;
  }

  void tell() {
    const model::Event* end = nullptr;
    for (const auto& [file, ends] : ends_) {
      const auto* last = ends.back();
      if (is_last(*last) && (end == nullptr || context_.text(last->kind) == kJob)) end = last;
    }
    if (end == nullptr) return;
    auto f = finding_of(context_, "no_fault");
    f.kind = model::VerdictKind::kNone;
    f.depth = model::Depth::kSymptom;
    f.restart = model::Restart::kNo;
    f.severity = model::Severity::kInfo;
    f.confidence = 0.6;
    f.title = fmt::format("No fault: the run ended well ({})", base::ellipsize(context_.text(end->text), 120));
    f.evidence = {cite(context_, *end, "the end of the run")};
    out_.findings.push_back(std::move(f));
  }

  const Context& context_;
  Output& out_;
  std::map<std::uint32_t, std::vector<const model::Event*>> ends_;  // by file, in its order
};

}  // namespace

void set_survived_aside(const Context& context, Output& output) { Survived(context, output).run(); }

}  // namespace holter::diagnose
