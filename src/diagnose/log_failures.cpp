// SPDX-License-Identifier: Apache-2.0
#include "diagnose/log_failures.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace holter::diagnose {

namespace {

// Exceptions that only report what a peer or a launcher did.
bool is_secondary_exception(std::string_view name) {
  for (const std::string_view part :
       {"DistBackendError", "DistNetworkError", "DistStoreError", "RayTaskError", "ChildFailedError", "ActorDiedError",
        "RayActorError", "ConnectionError", "ConnectionResetError", "ConnectionRefusedError", "BrokenPipeError",
        "EngineDeadError", "SignalException", "CalledProcessError", "ProcessRaisedException", "ProcessExitedException",
        "TimeoutError"}) {
    if (name.ends_with(part)) return true;
  }
  return false;
}

using Place = std::pair<model::FileId, std::uint64_t>;

class Collector {
 public:
  explicit Collector(const Context& context) : context_(context) {
    for (const auto& s : context.rules.signatures) signatures_.emplace(s.id, &s);
  }

  std::vector<LogFailure> run() {
    for (const auto& e : context_.evidence.events) {
      const auto found = signatures_.find(context_.text(e.kind));
      if (found != signatures_.end()) note(*found->second, e);
    }
    for (const auto& e : context_.evidence.events) {
      if (context_.text(e.kind) == "traceback" && !known_.contains({e.at.file, e.at.pos})) traceback(e);
    }
    std::vector<LogFailure> out;
    for (auto& [key, failure] : failures_) {
      std::stable_sort(failure.events.begin(), failure.events.end(),
                       [&](const auto* a, const auto* b) { return earlier(context_, *a, *b); });
      out.push_back(std::move(failure));
    }
    return out;
  }

 private:
  void note(const model::Signature& signature, const model::Event& e) {
    known_.insert({e.at.file, e.at.pos});
    for (const auto& [cause, vote] : signature.causes) {
      auto& failure = failures_[{cause, signature.secondary}];
      if (vote > failure.vote) failure.vote = vote, failure.signature = &signature;
      failure.cause = cause;
      failure.secondary = signature.secondary;
      failure.events.push_back(&e);
    }
  }
  void traceback(const model::Event& e) {
    const bool secondary = is_secondary_exception(field_text(context_, e, "exception"));
    auto& failure = failures_[{"rank_crashed", secondary}];
    failure.cause = "rank_crashed";
    failure.secondary = secondary;
    failure.vote = std::max(failure.vote, secondary ? 0.2 : 0.65);
    failure.events.push_back(&e);
  }

  const Context& context_;
  std::unordered_map<std::string_view, const model::Signature*> signatures_;
  std::map<std::pair<std::string, bool>, LogFailure> failures_;
  std::set<Place> known_;
};

template <typename Enum>
Enum named(std::string_view text, Enum last, Enum otherwise) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text == model::to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return otherwise;
}

}  // namespace

std::string field_text(const Context& context, const model::Event& event, std::string_view name) {
  return std::string(field(context, event, name));
}

std::string node_of(const Context& context, const model::Event& event) {
  if (event.node != model::StrId::kEmpty) return std::string(context.text(event.node));
  const auto& files = context.evidence.files;
  if (event.at.file != model::FileId::kNone) {
    const auto name = files[value(event.at.file)].name_node;
    if (name != model::StrId::kEmpty) return std::string(context.text(name));
  }
  const auto at = context.job.node_of.find(value(event.rank));
  return at == context.job.node_of.end() ? "" : at->second;
}

std::int32_t attempt_of(const Context& context, const model::Event& event) {
  if (event.attempt >= 0 || event.at.file == model::FileId::kNone) return event.attempt;
  return context.evidence.files[value(event.at.file)].name_attempt;
}

std::string who(const Context& context, const model::Event& event) {
  const auto node = node_of(context, event);
  std::string text = value(event.rank) >= 0 ? fmt::format("rank {}", value(event.rank)) : "";
  if (!node.empty()) text += text.empty() ? node : " on " + node;
  if (!text.empty() || event.at.file == model::FileId::kNone) return text.empty() ? "the job" : text;
  return context.evidence.files[value(event.at.file)].path;
}

std::string clock(const model::Timestamp& time) {
  if (time.kind == model::TimeKind::kNone || time.kind == model::TimeKind::kMonotonic) return "";
  const auto seconds = time.ns / 1'000'000'000 % 86'400;
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

namespace {

// By how much the time of `b` must be later than that of `a`.
bool is_earlier(const Context& context, const model::Event& a, const model::Event& b, std::int64_t margin_ns) {
  const auto first = attempt_of(context, a), second = attempt_of(context, b);
  if (first >= 0 && second >= 0 && first != second) return first < second;
  const auto x = comparable_ns(a), y = comparable_ns(b);
  return x > 0 && y > 0 && x + margin_ns < y;
}

std::int64_t margin(const Context& context, const model::Event& a, const model::Event& b) {
  const auto& clocks = context.evidence.clocks;
  return model::uncertainty_ns(clocks[a.time.clock], clocks[b.time.clock]);
}

}  // namespace

bool before(const Context& context, const model::Event& a, const model::Event& b) {
  return is_earlier(context, a, b, margin(context, a, b));
}

bool earlier(const Context& context, const model::Event& a, const model::Event& b) {
  return is_earlier(context, a, b, 0);
}

std::string length_text(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto s = std::abs(ns) / kSecond;
  if (s < 1) return fmt::format("{} ms", (std::abs(ns) + 999'999) / 1'000'000);
  if (s < 600) return fmt::format("{:.1f} s", static_cast<double>(std::abs(ns)) / 1e9);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string clock_name(const Context& context, const model::Clock& clock) {
  if (clock.node != model::StrId::kEmpty) return std::string(context.text(clock.node));
  if (value(clock.rank) >= 0) return fmt::format("the host of rank {}", value(clock.rank));
  return clock.file == model::FileId::kNone ? "a host" : context.evidence.files[value(clock.file)].path;
}

std::string unordered_note(const Context& context, std::uint32_t first_clock, std::uint32_t second_clock,
                           std::int64_t apart_ns) {
  const auto& clocks = context.evidence.clocks;
  const auto margin_ns = model::uncertainty_ns(clocks[first_clock], clocks[second_clock]);
  if (margin_ns == 0 || std::abs(apart_ns) > margin_ns) return "";
  return fmt::format("{} apart, and the clocks of {} and {} are only known to agree within {}", length_text(apart_ns),
                     clock_name(context, clocks[first_clock]), clock_name(context, clocks[second_clock]),
                     length_text(margin_ns));
}

std::string unordered_note(const Context& context, const model::Event& first, const model::Event& second) {
  const auto a = attempt_of(context, first), b = attempt_of(context, second);
  const auto x = comparable_ns(first), y = comparable_ns(second);
  if ((a >= 0 && b >= 0 && a != b) || x <= 0 || y <= 0) return "";
  return unordered_note(context, first.time.clock, second.time.clock, y - x);
}

std::vector<LogFailure> log_failures(const Context& context) { return Collector(context).run(); }

model::Finding finding_of(const Context& context, std::string_view cause) {
  model::Finding f;
  f.cause = cause;
  const auto table = context.rules.tables.find("cause_defaults.csv");
  if (table == context.rules.tables.end()) return f;
  for (const auto& row : table->second.rows) {
    if (row[0] != cause) continue;
    f.kind = named(row[1], model::VerdictKind::kUndetermined, model::VerdictKind::kUndetermined);
    f.owner = named(row[2], model::Owner::kUnknown, model::Owner::kUnknown);
    f.severity = named(row[3], model::Severity::kReplace, model::Severity::kApplication);
    f.restart = named(row[4], model::Restart::kUnknown, model::Restart::kUnknown);
    if (!row[5].empty()) f.actions.push_back({row[5], row[6], model::Risk::kNone});
  }
  return f;
}

}  // namespace holter::diagnose
