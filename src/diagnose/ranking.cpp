// SPDX-License-Identifier: Apache-2.0
#include "diagnose/ranking.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/decision.h"
#include "diagnose/log_failures.h"

namespace holter::diagnose {

namespace {

using model::Certainty;
using model::Depth;
using model::Finding;

constexpr double kConfirmed = 0.85;
constexpr double kLikely = 0.5;
constexpr double kFirstFailure = 0.6;  // a local reason good enough to be compared by its time
constexpr double kUnordered = 0.8;     // at most, while another local reason may have come first
constexpr std::size_t kMaxEvidence = 8;

// --- joining -----------------------------------------------------------------

std::set<std::string> culprit_keys(const Finding& f) {
  std::set<std::string> keys;
  for (const auto& c : f.culprits) {
    if (c.rank) keys.insert("rank" + std::to_string(*c.rank));
    else if (!c.gpu.empty()) keys.insert("gpu" + c.node + c.gpu);
    else if (!c.node.empty()) keys.insert("node" + c.node);
    else keys.insert(c.name);
  }
  return keys;
}

bool same_claim(const Finding& a, const Finding& b) {
  if (a.cause != b.cause) return false;
  const auto x = culprit_keys(a);
  const auto y = culprit_keys(b);
  if (x.empty() || y.empty()) return true;
  return std::includes(x.begin(), x.end(), y.begin(), y.end()) || std::includes(y.begin(), y.end(), x.begin(), x.end());
}

void append_needs(std::vector<std::string>& to, const std::vector<std::string>& from, std::size_t limit) {
  for (const auto& need : from) {
    if (to.size() < limit && std::find(to.begin(), to.end(), need) == to.end()) to.push_back(need);
  }
}

// Advice that says the same in both findings is said once.
void append_actions(std::vector<model::Action>& to, const std::vector<model::Action>& from, std::size_t limit) {
  for (const auto& a : from) {
    const bool there = std::any_of(to.begin(), to.end(), [&](const auto& t) { return t.text == a.text; });
    if (!there && to.size() < limit) to.push_back(a);
  }
}

void append_citations(std::vector<model::Citation>& to, const std::vector<model::Citation>& from, std::size_t limit) {
  for (const auto& c : from) {
    const bool there = std::any_of(to.begin(), to.end(), [&](const auto& t) {
      return t.at.file == c.at.file && t.at.pos == c.at.pos && t.text == c.text;
    });
    if (!there && to.size() < limit) to.push_back(c);
  }
}

// Independent evidence for one claim adds up, the second half as much.
double combined(double a, double b) { return std::min(0.97, 1 - (1 - std::max(a, b)) * (1 - 0.5 * std::min(a, b))); }

void join_same(std::vector<Finding>& all) {
  std::vector<Finding> out;
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.confidence > b.confidence; });
  for (auto& f : all) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const auto& o) { return same_claim(o, f); });
    if (same == out.end()) {
      out.push_back(std::move(f));
      continue;
    }
    same->confidence = combined(same->confidence, f.confidence);
    append_citations(same->evidence, f.evidence, kMaxEvidence);
    append_citations(same->against, f.against, kMaxEvidence);
    append_actions(same->actions, f.actions, 6);
    append_needs(same->needs, f.needs, 4);
    same->local = same->local || f.local;
    same->aside = same->aside && f.aside;
    if (f.first_ns > 0 && (same->first_ns == 0 || f.first_ns < same->first_ns)) same->first_ns = f.first_ns;
    if (same->culprits.empty()) same->culprits = std::move(f.culprits);
    same->ranks = same->ranks | f.ranks;
  }
  all = std::move(out);
}

// --- time ----------------------------------------------------------------------

// The clock of the line that first_ns was read from.
void find_clocks(const Context& context, std::vector<Finding>& all) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Finding*>> wanted;
  for (auto& f : all) {
    for (const auto& c : f.evidence) {
      if (f.first_ns > 0) wanted[{value(c.at.file), c.at.pos}].push_back(&f);
    }
  }
  if (wanted.empty()) return;
  for (const auto& e : context.evidence.events) {
    const auto found = wanted.find({value(e.at.file), e.at.pos});
    if (found == wanted.end() || !e.time.comparable()) continue;
    for (auto* f : found->second) {
      if (f->first_ns == e.time.job_ns()) f->first_clock = e.time.clock;
    }
  }
}

// Which of two local reasons came first is said only where the clocks decide it.
void tell_unordered(const Context& context, std::vector<Finding>& all, std::vector<std::string>& gaps) {
  auto& root = all.front();
  if (!root.local || root.first_ns == 0) return;
  for (const auto& f : all) {
    if (&f == &root || !f.local || f.confidence < kFirstFailure || f.first_ns == 0) continue;
    const auto& known = root.explains_causes;
    if (std::find(known.begin(), known.end(), f.cause) != known.end()) continue;
    const auto note = unordered_note(context, root.first_clock, f.first_clock, f.first_ns - root.first_ns);
    if (note.empty()) continue;
    const auto text = fmt::format("which was first, this or \"{}\": {}", base::ellipsize(f.title, 120), note);
    root.needs.insert(root.needs.begin(), text + " (chronyc tracking on both)");
    root.confidence = std::min(root.confidence, kUnordered);
    gaps.push_back(fmt::format("\"{}\" and \"{}\" are not ordered: {}", base::ellipsize(root.title, 80),
                               base::ellipsize(f.title, 80), note));
    return;
  }
}

// --- scoring -----------------------------------------------------------------

bool is_host_mechanism(const Finding& f) {
  return f.depth == Depth::kMechanism &&
         (f.cause == "host_stuck" || f.cause == "rank_never_joined" || f.cause == "rank_crashed");
}

class Scorer {
 public:
  Scorer(const std::vector<Finding>& all, const std::vector<model::Clock>& clocks) : all_(all), clocks_(clocks) {}

  double score(const Finding& f) const {
    double s = f.confidence;
    if (f.depth == Depth::kReason) s += 0.3;
    if (f.depth == Depth::kMechanism) s += 0.15;
    if (f.local) s += 0.1;
    if (may_be_first(f)) s += 0.1;
    if (f.aside) s -= 0.8;
    if (explained(f)) s -= 0.5;
    if (f.cause == "no_fault" && contradicted_no_fault(f)) s -= 0.6;
    if (f.cause == "unknown") s -= 0.3;
    if (f.kind == model::VerdictKind::kSlow && stopped()) s -= 0.4;
    return s + agreement(f);
  }

  bool explained(const Finding& f) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Finding& g) {
      if (&g == &f || g.aside || g.confidence < 0.55) return false;
      const auto lists = [](const Finding& a, const Finding& b) {
        return std::find(a.explains_causes.begin(), a.explains_causes.end(), b.cause) != a.explains_causes.end();
      };
      return lists(g, f) && !lists(f, g);
    });
  }

 private:
  // The stack or log of a rank that the calls also point at, and not of one that merely waits.
  double agreement(const Finding& f) const {
    if (f.ranks.empty()) return 0;
    double s = 0;
    for (const auto& g : all_) {
      if (&g == &f || g.ranks.empty() || g.depth == f.depth) continue;
      if (g.ranks == f.ranks && f.depth > g.depth) s = std::max(s, 0.12);
      const bool elsewhere = (g.ranks & f.ranks).empty() && is_host_mechanism(g) && g.confidence >= 0.7 &&
                             f.depth == Depth::kReason && !f.local;
      if (elsewhere) return -0.25;
    }
    return s;
  }
  static bool is_dated_reason(const Finding& f) {
    return f.local && f.confidence >= kFirstFailure && f.first_ns > 0 && !f.aside;
  }
  // No other local reason is certainly earlier.
  bool may_be_first(const Finding& f) const {
    return is_dated_reason(f) && std::none_of(all_.begin(), all_.end(), [&](const Finding& g) {
             const auto margin = model::uncertainty_ns(clocks_[g.first_clock], clocks_[f.first_clock]);
             return is_dated_reason(g) && g.first_ns + margin < f.first_ns;
           });
  }
  // What makes a job slow does not make it stop.
  bool stopped() const {
    return std::any_of(all_.begin(), all_.end(), [](const Finding& g) {
      const bool stops = g.kind == model::VerdictKind::kHang || g.kind == model::VerdictKind::kCrash ||
                         g.kind == model::VerdictKind::kInit;
      return stops && g.confidence >= 0.5 && g.depth != Depth::kSymptom;
    });
  }
  bool contradicted_no_fault(const Finding& f) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Finding& g) {
      return &g != &f && g.cause != "no_fault" && g.confidence >= 0.5 && g.severity != model::Severity::kInfo &&
             std::find(f.explains_causes.begin(), f.explains_causes.end(), g.cause) == f.explains_causes.end();
    });
  }

  const std::vector<Finding>& all_;
  const std::vector<model::Clock>& clocks_;
};

void order(std::vector<Finding>& all, const std::vector<model::Clock>& clocks) {
  const Scorer scorer(all, clocks);
  std::vector<std::pair<double, std::size_t>> scores;
  for (std::size_t i = 0; i < all.size(); ++i) scores.emplace_back(-scorer.score(all[i]), i);
  std::stable_sort(scores.begin(), scores.end());
  std::vector<Finding> out;
  for (const auto& [score, i] : scores) out.push_back(std::move(all[i]));
  all = std::move(out);
}

// --- roles -------------------------------------------------------------------

bool explains(const Finding& root, const Finding& f) {
  if (f.aside) return false;
  const auto& list = root.explains_causes;
  if (std::find(list.begin(), list.end(), f.cause) != list.end()) return true;
  if (f.depth == Depth::kSymptom && root.depth != Depth::kSymptom) return true;
  return f.depth == Depth::kMechanism && root.depth == Depth::kReason &&
         (f.ranks.empty() || root.ranks.empty() || !(f.ranks & root.ranks).empty());
}

Certainty certainty_of(const Finding& f) {
  if (f.cause == "unknown") return Certainty::kInconclusive;
  return f.confidence >= kConfirmed ? Certainty::kConfirmed
         : f.confidence >= kLikely  ? Certainty::kLikely
                                    : Certainty::kInconclusive;
}

// The mechanism that points at the same ranks supports the reason.
void support_root(std::vector<Finding>& all) {
  auto& root = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& f = all[i];
    if (f.depth == root.depth || f.ranks.empty() || f.ranks != root.ranks) continue;
    root.confidence = combined(root.confidence, f.confidence);
    append_citations(root.evidence, f.evidence, kMaxEvidence);
    append_actions(root.actions, f.actions, 6);
    return;
  }
}

void assign(std::vector<Finding>& all) {
  int finding = 0, citation = 0;
  for (auto& f : all) {
    f.id = "F" + std::to_string(++finding);
    f.certainty = certainty_of(f);
    for (auto* list : {&f.evidence, &f.against}) {
      for (auto& c : *list) c.id = "E" + std::to_string(++citation);
    }
  }
  auto& root = all.front();
  root.role =
      root.certainty == Certainty::kInconclusive || root.aside ? model::Role::kContributing : model::Role::kRoot;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const bool follows = root.role == model::Role::kRoot && explains(root, all[i]);
    all[i].role = follows ? model::Role::kSecondary : model::Role::kContributing;
    if (follows) root.explains.push_back(all[i].id);
  }
}

void set_verdict(const Finding& root, model::Report& report) {
  report.verdict.kind = root.certainty == Certainty::kInconclusive && root.cause == "unknown"
                            ? model::VerdictKind::kUndetermined
                            : root.kind;
  report.verdict.certainty = root.certainty;
  report.verdict.summary = root.title;
  if (root.aside) {
    report.verdict.kind = model::VerdictKind::kUndetermined;
    report.verdict.certainty = Certainty::kInconclusive;
    report.verdict.summary = "This evidence shows no cause. Beside it: " + root.title;
  } else if (root.cause == "no_fault" || root.kind == model::VerdictKind::kNone) {
    report.verdict.kind = model::VerdictKind::kNone;
    report.verdict.certainty = Certainty::kNoFault;
  } else if (root.certainty == Certainty::kInconclusive) {
    report.verdict.summary = "Not decided by this evidence. Best lead: " + root.title;
  }
  report.owner = root.owner;
  const bool decided = root.certainty != Certainty::kInconclusive && !root.aside;
  report.decision.restart = decided ? root.restart : model::Restart::kUnknown;
  if (decided) report.decision.exclude_nodes = root.exclude_nodes;
  report.decision.why = decision_reason(root, report.decision.restart);
}

}  // namespace

void rank(const Context& context, Output output, model::Report& report) {
  auto& all = output.findings;
  // Evidence or silence: a claim without a citation is not made.
  std::erase_if(all, [](const Finding& f) { return f.evidence.empty(); });
  join_same(all);
  if (all.empty()) {
    report.verdict.kind = model::VerdictKind::kUndetermined;
    report.verdict.summary =
        context.evidence.files.empty() ? "No evidence was read" : "This evidence shows no cause and no fault";
  } else {
    find_clocks(context, all);
    order(all, context.evidence.clocks);
    support_root(all);
    tell_unordered(context, all, output.gaps);
    assign(all);
    set_verdict(all.front(), report);
  }
  report.findings = std::move(all);
  report.ruled_out = std::move(output.ruled_out);
  report.evidence.gaps = std::move(output.gaps);
}

}  // namespace holter::diagnose
