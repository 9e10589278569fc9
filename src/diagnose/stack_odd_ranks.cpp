// SPDX-License-Identifier: Apache-2.0
// Ranks whose main thread is not in a collective while other ranks wait: the reason by the dictionary
// of stacks, or "the host stopped here" where the dictionary does not know the place.
#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/places.h"
#include "diagnose/stack_view.h"

namespace holter::diagnose {

namespace {

using hang::Doing;
using hang::Motion;
using model::StackRule;

// Ranks that do one thing.
struct OddGroup {
  const StackRule* rule = nullptr;  // null: unknown place
  model::RankSet ranks;
  std::vector<std::uint32_t> threads;
  bool on_device = false;  // compiles or prepares, and waits for its device inside
};

std::vector<OddGroup> group_odd(const StackView& view) {
  std::vector<OddGroup> out;
  for (const auto& [rank, i] : view.main_of) {
    const auto& m = view.meanings[i];
    if (m.doing == Doing::kCollective || (m.doing == Doing::kDevice && !m.reason)) continue;
    const auto* rule = m.reason.rule;
    const auto same = std::find_if(out.begin(), out.end(), [&](const OddGroup& g) { return g.rule == rule; });
    auto& group = same == out.end() ? out.emplace_back() : *same;
    group.rule = rule;
    group.ranks.insert(rank);
    if (std::find(group.threads.begin(), group.threads.end(), i) == group.threads.end()) group.threads.push_back(i);
    group.on_device = group.on_device || m.doing == Doing::kDevice;
  }
  return out;
}

Motion motion_of(const StackView& view, const OddGroup& group) {
  Motion out = Motion::kOnce;
  for (const auto i : group.threads) {
    if (view.threads[i].motion == Motion::kMoving) return Motion::kMoving;
    if (view.threads[i].motion == Motion::kStill) out = Motion::kStill;
  }
  return out;
}

std::string waiting_text(const Context& context, const StackView& view, const model::RankSet& odd) {
  const auto by_stack = view.in_collective - odd;
  if (!by_stack.empty()) {
    const auto i = view.main_of.at(by_stack.first());
    return fmt::format("{} {} in {}", who(context, by_stack), by_stack.size() == 1 ? "waits" : "wait",
                       matched_function(context, view, i, view.meanings[i].collective));
  }
  const auto timed_out = view.timed_out - odd;
  if (!timed_out.empty()) return fmt::format("the collective of {} timed out", who(context, timed_out));
  return "";
}

// What other evidence shows about waiting, and what two samples say, moves the confidence.
double weigh(const StackView& view, const OddGroup& group, double confidence) {
  const auto waiting = view.waiting() - group.ranks;
  if (waiting.empty()) confidence -= 0.25;
  else if (group.ranks.size() > waiting.size() && group.ranks.size() > 1) confidence -= 0.15;
  if (group.on_device) confidence -= 0.15;
  switch (motion_of(view, group)) {
    case Motion::kMoving: confidence -= group.rule && group.rule->long_work ? 0.1 : 0.25; break;
    case Motion::kStill: confidence += 0.1; break;
    case Motion::kOnce: break;
  }
  return std::clamp(confidence, 0.1, 0.9);
}

std::string motion_text(const StackView& view, const OddGroup& group) {
  switch (motion_of(view, group)) {
    case Motion::kMoving: return "; two samples differ, so it makes progress";
    case Motion::kStill: return "; two samples show the same place";
    case Motion::kOnce: break;
  }
  return "";
}

void add_stacks(const Context& context, const StackView& view, const OddGroup& group, model::Finding& f) {
  for (const auto i : group.threads) {
    if (f.evidence.size() >= 4) break;
    f.evidence.push_back(cite_stack(context, view, i, "the main thread of a rank that the others wait for"));
    for (const auto other : view.threads[i].more) {
      const auto& s = context.evidence.stacks[other];
      if (s.frames.empty() || f.evidence.size() >= 5) continue;
      f.evidence.push_back(
          cite(context, s.at, hang::frame_text(context.evidence, s.frames.back()), "another sample of this thread"));
    }
  }
  const auto waiting = view.in_collective - group.ranks;
  if (!waiting.empty()) {
    f.evidence.push_back(cite_stack(context, view, view.main_of.at(waiting.first()), "a rank that waits for it"));
  }
}

model::Finding base_finding(const Context& context, const OddGroup& group) {
  model::Finding f;
  f.kind = model::VerdictKind::kHang;
  f.restart = model::Restart::kAfterEvidence;
  f.ranks = group.ranks;
  f.culprits = rank_culprits(context, group.ranks);
  f.explains_causes = {"host_stuck", "rank_never_joined", "data_path_stall", "straggler"};
  return f;
}

void from_rule(const StackRule& rule, model::Finding& f) {
  f.cause = rule.cause;
  f.owner = owner_of(rule.owner);
  for (const auto& a : rule.actions) f.actions.push_back({.text = a, .risk = model::Risk::kLow});
  f.needs = rule.needs;
}

// A worker of these ranks that says why no batch comes.
struct WorkerReason {
  std::uint32_t thread = 0;
  const StackRule* rule = nullptr;
  std::size_t frame = 0;
};
std::optional<WorkerReason> worker_reason(const StackView& view, const OddGroup& group) {
  std::optional<WorkerReason> out;
  for (std::uint32_t i = 0; i < view.threads.size(); ++i) {
    const auto& t = view.threads[i];
    const auto& m = view.meanings[i];
    if (t.role != model::ThreadRole::kWorker || (t.ranks & group.ranks).empty() || !m.reason) continue;
    const auto* rule = m.reason.rule;
    // A worker that waits for its next index is idle, not the reason.
    if (rule->id == "user.lock" || rule->id == "data.dataloader") continue;
    if (!out || rule->confidence > out->rule->confidence) out = WorkerReason{i, rule, m.reason.frame};
  }
  return out;
}

std::string worker_name(const Context& context, const hang::ThreadStack& t) {
  const auto& s = context.evidence.stacks[t.sample];
  std::string out = "DataLoader worker";
  if (s.worker >= 0) out += fmt::format(" {}", s.worker);
  if (s.pid >= 0) out += fmt::format(" (pid {})", s.pid);
  return out;
}

// The lock's symbol, from the note of the gdb sample of this thread.
std::string lock_name(const Context& context, const hang::ThreadStack& t) {
  for (const auto i : t.more) {
    const auto& s = context.evidence.stacks[i];
    if (const auto note = context.text(s.note); !note.empty() && context.text(s.tool) == "gdb")
      return fmt::format(" {}", note);
  }
  return "";
}

// The call of the library that took the lock: the innermost frame outside of the C library.
std::string inside_call(const Context& context, const hang::ThreadStack& t) {
  for (std::size_t i = t.frames.size(); i-- > 0;) {
    const auto name = context.text(t.frames[i].function);
    if (name.starts_with("_") || name.find("lock") != std::string_view::npos ||
        name.find("malloc") != std::string_view::npos)
      continue;
    return " in " + std::string(name.substr(0, name.find('(')));
  }
  return "";
}

model::Finding dataloader_finding(const Context& context, const StackView& view, const OddGroup& group) {
  auto f = base_finding(context, group);
  const auto waiting = waiting_text(context, view, group.ranks);
  const auto worker = worker_reason(view, group);
  if (!worker) {
    from_rule(*group.rule, f);
    f.confidence = weigh(view, group, group.rule->confidence);
    f.title = fmt::format("{} waits for a batch from its DataLoader workers at {}{}{}", who(context, group.ranks),
                          place(context, view, group.threads.front()), waiting.empty() ? "" : " while " + waiting,
                          motion_text(view, group));
    add_stacks(context, view, group, f);
    return f;
  }
  const auto& t = view.threads[worker->thread];
  from_rule(*worker->rule, f);
  f.local = true;
  const bool lock = worker->rule->id == "lock.at_fork";
  f.confidence = weigh(view, group, lock ? 0.85 : worker->rule->confidence + 0.05);
  const auto name = worker_name(context, t);
  const auto what =
      lock ? fmt::format("waits for a lock{} held at fork{}", lock_name(context, t), inside_call(context, t))
           : worker->rule->meaning;
  f.title = fmt::format("{}: {} {}; the rank waits for its batch{}", who(context, group.ranks), name, what,
                        waiting.empty() ? "" : " and " + waiting);
  add_stacks(context, view, group, f);
  f.evidence.insert(f.evidence.begin(), cite_stack(context, view, worker->thread, "the worker that delivers no batch"));
  for (const auto i : t.more) {
    const auto& s = context.evidence.stacks[i];
    if (f.evidence.size() > 7) break;
    f.evidence.insert(
        f.evidence.begin() + 1,
        cite(context, s.at,
             fmt::format("{} {}", hang::frame_text(context.evidence, s.frames.back()), context.text(s.note)),
             "the same thread seen by another tool"));
  }
  model::Culprit process;
  process.kind = model::CulpritKind::kProcess;
  process.name = name;
  f.culprits.push_back(process);
  return f;
}

model::Finding known_finding(const Context& context, const StackView& view, const OddGroup& group) {
  auto f = base_finding(context, group);
  from_rule(*group.rule, f);
  const bool gc = group.rule->cause == "python_gc";
  f.local = true;
  f.confidence = weigh(view, group, group.rule->confidence);
  const auto first = group.threads.front();
  const auto waiting = waiting_text(context, view, group.ranks);
  std::string state;
  if (view.threads[first].state == 'D') {
    state = ", in uninterruptible sleep (state D)";
    if (f.owner == model::Owner::kStorage) f.confidence = std::min(0.9, f.confidence + 0.1);
  }
  f.title =
      fmt::format("{} {} at {}{}{}{}", who(context, group.ranks), group.rule->meaning, place(context, view, first),
                  state, waiting.empty() ? "" : " while " + waiting, motion_text(view, group));
  if (gc) {
    // A pause, not a hang; it rotates over ranks, so the program's setting is the culprit.
    f.kind = model::VerdictKind::kSlow;
    f.restart = model::Restart::kNo;
    const auto note = context.text(context.evidence.stacks[view.threads[first].sample].note);
    f.culprits = {{.kind = model::CulpritKind::kSoftware, .name = "automatic garbage collection of Python"}};
    if (!note.empty()) f.title += fmt::format(" ({})", note);
  }
  add_stacks(context, view, group, f);
  return f;
}

model::Finding unknown_finding(const Context& context, const StackView& view, const OddGroup& group) {
  auto f = base_finding(context, group);
  const auto first = group.threads.front();
  const auto& m = view.meanings[first];
  const auto& s = context.evidence.stacks[view.threads[first].sample];
  const bool busy = s.active && m.user_innermost;
  const auto waiting = waiting_text(context, view, group.ranks);
  f.cause = busy ? "python_loop" : "host_stuck";
  f.depth = busy ? model::Depth::kReason : model::Depth::kMechanism;
  f.explains_causes = {"rank_never_joined", "data_path_stall", "straggler"};
  if (busy) f.explains_causes.push_back("host_stuck");
  f.local = true;
  f.owner = model::Owner::kUserCode;
  f.confidence = weigh(view, group, busy ? 0.6 : 0.55);
  f.title = fmt::format("{} {} {}, outside of any collective{}{}", who(context, group.ranks),
                        busy ? "runs the program's own code at" : "is at", place(context, view, first),
                        waiting.empty() ? "" : ", while " + waiting, motion_text(view, group));
  f.actions.push_back({.text = fmt::format("Look at {}: what does it wait for or loop over on this rank only",
                                           place(context, view, first)),
                       .risk = model::Risk::kNone});
  f.needs.push_back("A second sample of this process: py-spy dump --native --pid PID");
  add_stacks(context, view, group, f);
  return f;
}

}  // namespace

void diagnose_odd_ranks(const Context& context, const StackView& view, Output& out) {
  const auto groups = group_odd(view);
  for (const auto& g : groups) {
    const bool all = g.ranks.size() == view.main_of.size();
    const bool teardown = g.rule && g.rule->id == "teardown.destroy";
    const auto waiting = view.waiting() - g.ranks;
    // All known ranks do the same and nobody is shown to wait: nobody is odd.
    if (all && waiting.empty() && g.ranks.size() > 1 && !teardown) {
      model::RuledOut r;
      r.cause = g.rule ? g.rule->cause : "host_stuck";
      r.why = fmt::format("all {} ranks with a stack do the same ({})", g.ranks.size(),
                          place(context, view, g.threads.front()));
      r.evidence.push_back(cite_stack(context, view, g.threads.front(), "one of these stacks"));
      out.ruled_out.push_back(std::move(r));
      continue;
    }
    // Kernels are compiled on all ranks now and then: only one that others wait for is a skew.
    if (g.rule && g.rule->cause == "compile_skew" &&
        (waiting.empty() || (g.on_device && !view.on_device.empty() && g.ranks.size() > waiting.size())))
      continue;
    out.findings.push_back(!g.rule                           ? unknown_finding(context, view, g)
                           : g.rule->id == "data.dataloader" ? dataloader_finding(context, view, g)
                                                             : known_finding(context, view, g));
  }
}

}  // namespace holter::diagnose
