// SPDX-License-Identifier: Apache-2.0
#include "diagnose/signatures.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/log_failures.h"

namespace holter::diagnose {

namespace {

constexpr std::size_t kMaxCited = 4;
constexpr double kLocal = 0.5;  // a vote from which a text is a reason of its own

// What a stated failure on one rank makes of the others.
const std::vector<std::string>& consequences() {
  static const std::vector<std::string> all{
      "data_path_stall",  "rank_never_joined", "host_stuck", "straggler", "fabric_unreachable",
      "store_overloaded", "engine_dead",       "unknown",    "nccl_bug"};
  return all;
}

void add_culprits(const Context& context, const LogFailure& failure, model::Finding& f) {
  std::set<std::string> named;
  for (const auto* e : failure.events) {
    model::Culprit c;
    c.node = node_of(context, *e);
    if (value(e->rank) >= 0) {
      c.kind = model::CulpritKind::kRank;
      c.rank = value(e->rank);
      f.ranks.insert(value(e->rank));
    } else if (!c.node.empty()) {
      c.kind = model::CulpritKind::kNode;
    } else {
      continue;
    }
    const auto key = c.rank ? fmt::format("r{}", *c.rank) : c.node;
    if (named.size() < 16 && named.insert(key).second) f.culprits.push_back(std::move(c));
  }
  if (f.culprits.empty()) f.culprits.push_back({.kind = model::CulpritKind::kSoftware, .name = failure.cause});
}

std::string text_of(const Context& context, const model::Event& e) {
  if (context.text(e.kind) == "traceback") {
    auto text = fmt::format("{}: {}", field_text(context, e, "exception"), field_text(context, e, "message"));
    const auto function = field_text(context, e, "function");
    if (!function.empty())
      text += fmt::format(" in {} ({}:{})", function, field_text(context, e, "file"), field_text(context, e, "line"));
    return base::ellipsize(text, 240);
  }
  return base::ellipsize(context.text(e.text), 240);
}

// The same failure on another host at about the same time: which was first is not known.
std::string tie_of(const Context& context, const LogFailure& failure) {
  const auto& first = *failure.events.front();
  for (const auto* e : failure.events) {
    if (const auto note = unordered_note(context, first, *e); !note.empty())
      return fmt::format("which was first, {} or {}: {} (chronyc tracking on both)", who(context, first),
                         who(context, *e), note);
  }
  return "";
}

model::Finding make(const Context& context, const LogFailure& failure) {
  auto f = finding_of(context, failure.cause);
  const auto& first = *failure.events.front();
  // Among events without an order, the one that the strongest signature names.
  const model::Event* shown = &first;
  if (failure.signature && comparable_ns(first) == 0) {
    for (const auto* e : failure.events) {
      if (context.text(e->kind) == failure.signature->id) {
        shown = e;
        break;
      }
    }
  }
  const auto at = clock(shown->time);
  f.title = fmt::format("{}: {}{}", who(context, *shown), text_of(context, *shown), at.empty() ? "" : " at " + at);
  f.confidence = failure.secondary ? std::min(failure.vote, 0.35) : std::min(failure.vote, 0.9);
  f.local = !failure.secondary && failure.vote >= kLocal;
  f.depth = failure.secondary ? model::Depth::kSymptom : model::Depth::kReason;
  f.first_ns = comparable_ns(*shown);
  add_culprits(context, failure, f);
  f.aside = failure.signature && failure.signature->state;
  if (f.aside) f.severity = model::Severity::kInfo;
  if (f.local) f.explains_causes = consequences();
  else f.actions.clear();  // a suggestion is no ground for advice
  const auto meaning = failure.signature ? failure.signature->meaning : "An exception ended this process.";
  for (const auto* e : failure.events) {
    if (f.evidence.size() < kMaxCited) f.evidence.push_back(cite(context, *e, meaning));
  }
  if (const auto note = f.local ? tie_of(context, failure) : ""; !note.empty()) f.needs.push_back(note);
  if (failure.signature) {
    for (const auto& need : failure.signature->needs) f.needs.push_back(need);
    for (const auto& action : failure.signature->actions) f.actions.push_back({action, "", model::Risk::kNone});
  }
  return f;
}

// Whatever came after the first local failure is its consequence, on any node.
void order_in_time(const Context& context, const std::vector<LogFailure>& failures,
                   std::vector<model::Finding>& findings) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i].local) continue;
    for (std::size_t k = 0; k < findings.size(); ++k) {
      if (i == k || findings[k].cause == findings[i].cause) continue;
      const bool follows =
          !findings[k].local || before(context, *failures[i].events.front(), *failures[k].events.front());
      if (follows) findings[i].explains_causes.push_back(findings[k].cause);
    }
  }
}

bool shares_file(const LogFailure& a, const LogFailure& b) {
  return std::any_of(a.events.begin(), a.events.end(), [&](const model::Event* x) {
    return std::any_of(b.events.begin(), b.events.end(),
                       [&](const model::Event* y) { return x->at.file == y->at.file; });
  });
}

// An engine that says that it died, and the exception it died of: one failure, not a crashed rank.
void join_engine(const Context& context, const std::vector<LogFailure>& failures,
                 std::vector<model::Finding>& findings) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (failures[i].cause != "engine_dead") continue;
    findings[i].depth = model::Depth::kMechanism;
    for (std::size_t k = 0; k < findings.size(); ++k) {
      if (failures[k].cause != "rank_crashed" || failures[k].secondary || !shares_file(failures[i], failures[k]))
        continue;
      std::erase(findings[k].explains_causes, "engine_dead");
      findings[i].depth = model::Depth::kReason;
      findings[i].explains_causes.emplace_back("rank_crashed");
      findings[i].title += "; it ended in " + text_of(context, *failures[k].events.front());
      findings[i].evidence.push_back(cite(context, *failures[k].events.front(), "what the engine ended in"));
    }
  }
}

constexpr std::size_t kFewRetries = 3;

// What the program says it handled; a service that failed a few times and a log that shows steps afterwards: the
// retries worked.
bool recovered(const Context& context, const LogFailure& failure) {
  if (std::all_of(failure.events.begin(), failure.events.end(),
                  [&](const model::Event* e) { return field_text(context, *e, "handled") == "yes"; }))
    return true;
  static constexpr std::string_view kRetried[] = {"dns_failure", "name_service_or_hub_limit", "object_store_throttled",
                                                  "storage_slow"};
  if (std::find(std::begin(kRetried), std::end(kRetried), failure.cause) == std::end(kRetried)) return false;
  if (failure.events.size() > kFewRetries) return false;
  return std::all_of(failure.events.begin(), failure.events.end(), [&](const model::Event* failed) {
    return std::any_of(context.evidence.events.begin(), context.evidence.events.end(), [&](const model::Event& e) {
      return e.at.file == failed->at.file && e.at.pos > failed->at.pos && context.text(e.kind) == "progress.step";
    });
  });
}

void weaken(model::Finding& f) {
  f.title += "; the log shows that the program went on";
  f.confidence = 0.3;
  f.local = false;
  f.aside = true;
  f.depth = model::Depth::kSymptom;
  f.severity = model::Severity::kInfo;
  f.explains_causes.clear();
}

}  // namespace

void diagnose_signatures(const Context& context, Output& out) {
  auto failures = log_failures(context);
  std::vector<model::Finding> findings;
  std::erase_if(failures,
                [](const auto& failure) { return failure.cause == "no_fault"; });  // first_failure.cpp decides
  for (const auto& failure : failures) {
    findings.push_back(make(context, failure));
    if (recovered(context, failure)) weaken(findings.back());
    const auto note = findings.back().local ? tie_of(context, failure) : "";
    if (!note.empty()) out.gaps.push_back("not known: " + note);
  }
  order_in_time(context, failures, findings);
  join_engine(context, failures, findings);
  std::move(findings.begin(), findings.end(), std::back_inserter(out.findings));
}

}  // namespace holter::diagnose
