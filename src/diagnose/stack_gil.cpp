// SPDX-License-Identifier: Apache-2.0
// One thread of a process holds the interpreter lock inside a blocking call; the others wait for it.
#include <fmt/format.h>

#include "diagnose/places.h"
#include "diagnose/stack_view.h"

namespace holter::diagnose {

namespace {

struct Process {
  std::int64_t holder = -1;  // thread in a blocking call that is known or likely to hold the GIL
  bool owner_stated = false;
  std::vector<std::uint32_t> waiters;
  model::RankSet ranks;
};

}  // namespace

void diagnose_gil(const Context& context, const StackView& view, Output& out) {
  std::map<std::pair<std::int32_t, std::int32_t>, Process> processes;
  for (std::uint32_t i = 0; i < view.threads.size(); ++i) {
    const auto& t = view.threads[i];
    const auto& m = view.meanings[i];
    const auto& s = context.evidence.stacks[t.sample];
    auto& p = processes[{t.ranks.empty() ? -1 : t.ranks.first(), s.pid}];
    p.ranks = p.ranks | t.ranks;
    if (m.gil_wait) p.waiters.push_back(i);
    else if (m.lock && m.lock.rule->id == "gil.blocking_cuda" && (s.owns_gil || p.holder < 0)) {
      p.holder = i;
      p.owner_stated = s.owns_gil;
    }
  }
  for (const auto& [key, p] : processes) {
    // A thread in a CUDA call is normal; it is a deadlock only when others want the GIL or the tool
    // saw that this thread has it.
    if (p.holder < 0 || p.ranks.empty() || (p.waiters.empty() && !p.owner_stated)) continue;
    const auto holder = static_cast<std::uint32_t>(p.holder);
    const auto& m = view.meanings[holder];
    model::Finding f;
    f.cause = "gil_deadlock";
    f.kind = model::VerdictKind::kHang;
    f.owner = model::Owner::kFramework;
    f.restart = model::Restart::kAfterEvidence;
    f.local = true;
    f.ranks = p.ranks;
    f.culprits = rank_culprits(context, p.ranks);
    f.confidence = p.owner_stated && !p.waiters.empty() ? 0.85 : p.owner_stated ? 0.6 : 0.65;
    if (view.threads[holder].motion == hang::Motion::kMoving) f.confidence -= 0.3;
    const auto call = matched_function(context, view, holder, m.lock);
    f.title = fmt::format(
        "{}: a thread {} the GIL inside the blocking call {}{}", who(context, p.ranks),
        p.owner_stated ? "holds" : "seems to hold", call,
        p.waiters.empty() ? ""
                          : fmt::format("; {} other thread{} of the process {} for it", p.waiters.size(),
                                        p.waiters.size() == 1 ? "" : "s", p.waiters.size() == 1 ? "waits" : "wait"));
    f.evidence.push_back(cite_stack(context, view, holder,
                                    p.owner_stated ? "this thread owns the GIL" : "the thread in the blocking call"));
    for (const auto w : p.waiters) {
      if (f.evidence.size() < 4) f.evidence.push_back(cite_stack(context, view, w, "waits for the GIL"));
    }
    f.actions = {
        {.text = fmt::format(
             "Release the GIL around {} (py::gil_scoped_release, or upgrade the extension that calls it)", call),
         .risk = model::Risk::kLow},
        {.text = "Free CUDA events and pinned memory outside of destructors that run while collectives are in flight",
         .risk = model::Risk::kLow}};
    f.needs = {"All threads with native frames: py-spy dump --native --pid PID"};
    f.explains_causes = {"host_stuck", "rank_never_joined", "data_path_stall", "straggler"};
    out.findings.push_back(std::move(f));
  }
}

}  // namespace holter::diagnose
