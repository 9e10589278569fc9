// SPDX-License-Identifier: Apache-2.0
// All ranks wait, but not for the same thing: other phases of the program, other groups, or a
// collective that only some ranks reach.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/strings.h"
#include "diagnose/places.h"
#include "diagnose/stack_view.h"

namespace holter::diagnose {

namespace {

using hang::Doing;

// Ranks that wait for one thing at one place.
struct WaitGroup {
  model::RankSet ranks;
  std::uint32_t thread = 0;
};

// What a rank has in flight: "mesh_shard all_to_all seq 11".
struct Pending {
  std::string group, op;
  std::int64_t seq = -1;
  std::string completed;  // "mesh_shard seq 10, mesh_replicate seq 6", when the dump says it
  model::Citation citation;
};

std::vector<WaitGroup> wait_groups(const Context& context, const StackView& view) {
  std::vector<WaitGroup> out;
  std::map<std::string, std::size_t> index;
  for (const auto& [rank, i] : view.main_of) {
    const auto& m = view.meanings[i];
    if (m.doing != Doing::kCollective && m.doing != Doing::kDevice) continue;
    const auto& t = view.threads[i];
    const auto& match = m.doing == Doing::kCollective ? m.collective : m.device;
    std::string key = m.doing == Doing::kCollective ? matched_function(context, view, i, match) : match.rule->id;
    if (m.caller != SIZE_MAX)
      key += fmt::format("|{}|{}", context.text(t.frames[m.caller].function), context.text(t.frames[m.caller].file));
    const auto [it, is_new] = index.try_emplace(key, out.size());
    if (is_new) out.push_back({{}, i});
    out[it->second].ranks.insert(rank);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.ranks.size() > b.ranks.size(); });
  return out;
}

std::optional<Pending> pending_of(const Context& context, const StackView& view, const WaitGroup& group) {
  static const RE2 kNote(
      R"((?i)last enqueued(?: work)?:?\s*([^\s;,]+)\s+([^\s;,]+)\s+(?:seq|#)\s*(\d+)(?:.*?last completed:?\s*([^|]*))?)");
  for (std::uint32_t i = 0; i < view.threads.size(); ++i) {
    const auto& t = view.threads[i];
    if (t.role != model::ThreadRole::kMain || (t.ranks & group.ranks).empty()) continue;
    const auto note = context.text(context.evidence.stacks[t.sample].note);
    Pending p;
    if (!RE2::PartialMatch(re2::StringPiece(note.data(), note.size()), kNote, &p.group, &p.op, &p.seq, &p.completed))
      continue;
    p.citation = cite(context, context.evidence.stacks[t.sample].at, note, "what these ranks enqueued last");
    return p;
  }
  for (const auto& w : context.evidence.watchdog) {
    if (value(w.rank) < 0 || !group.ranks.contains(value(w.rank)) || w.seq < 0) continue;
    const auto name = context.text(w.pg_desc);
    if (name.empty()) continue;
    // The line with the operation and the line with the group's name are different records.
    Pending p{.group = std::string(name), .seq = w.seq};
    for (const auto& other : context.evidence.watchdog) {
      if (other.rank == w.rank && other.seq == w.seq && other.op != model::StrId::kEmpty)
        p.op = base::lower(context.text(other.op));
    }
    p.citation = cite(context, w.at, context.text(w.text), "what the watchdog of this rank waits for");
    return p;
  }
  return std::nullopt;
}

std::string wait_text(const Context& context, const StackView& view, const WaitGroup& g) {
  const auto& m = view.meanings[g.thread];
  const auto& match = m.doing == Doing::kCollective ? m.collective : m.device;
  return fmt::format("{} at {}", matched_function(context, view, g.thread, match), place(context, view, g.thread));
}

model::Finding start(const Context& context, const StackView& view, const WaitGroup& minority,
                     const WaitGroup& majority) {
  model::Finding f;
  f.kind = model::VerdictKind::kHang;
  f.owner = model::Owner::kUserCode;
  f.restart = model::Restart::kNo;
  f.local = true;
  f.ranks = minority.ranks;
  f.culprits = rank_culprits(context, minority.ranks);
  f.explains_causes = {"host_stuck",
                       "rank_never_joined",
                       "data_path_stall",
                       "rank_divergent_control_flow",
                       "collective_order_mismatch",
                       "collective_shape_mismatch",
                       "unknown"};
  f.evidence = {cite_stack(context, view, minority.thread, "where the smaller set of ranks waits"),
                cite_stack(context, view, majority.thread, "where the others wait")};
  return f;
}

// Two groups of communication, each waited for by ranks that have not reached the other.
bool two_groups(const Context& context, const StackView& view, const WaitGroup& minority, const WaitGroup& majority,
                Output& out) {
  const auto a = pending_of(context, view, majority), b = pending_of(context, view, minority);
  if (!a || !b || a->group == b->group) return false;
  auto f = start(context, view, minority, majority);
  f.cause = "multi_pg_order";
  const bool same_history = !a->completed.empty() && base::trim(a->completed) == base::trim(b->completed);
  f.confidence = same_history ? 0.85 : 0.7;
  const bool implicit =
      view.meanings[minority.thread].doing == Doing::kDevice || view.meanings[majority.thread].doing == Doing::kDevice;
  f.title = fmt::format(
      "{} enqueued {} {} #{} and {} in {}, the others ({}) enqueued {} {} #{} and {} in {}: two process groups in opposite order, a circular wait{}",
      who(context, minority.ranks), b->group, b->op, b->seq, minority.ranks.size() == 1 ? "waits" : "wait",
      wait_text(context, view, minority), who(context, majority.ranks), a->group, a->op, a->seq,
      majority.ranks.size() == 1 ? "waits" : "wait", wait_text(context, view, majority),
      implicit ? " across implicit synchronisation" : "");
  f.evidence.push_back(b->citation);
  f.evidence.push_back(a->citation);
  f.actions = {
      {.text = "Issue the collectives of both groups in one order on all ranks", .risk = model::Risk::kLow},
      {.text =
           "Remove implicit syncs between them (tolist, item, synchronize during compilation), or move them behind both collectives",
       .risk = model::Risk::kLow}};
  out.findings.push_back(std::move(f));
  return true;
}

// The end of an epoch as a rank's log says it ("epoch 0 done, 2313 batches").
const model::Event* epoch_end(const Context& context, const model::RankSet& ranks) {
  const model::Event* found = nullptr;
  for (const auto& e : context.evidence.events) {
    if (context.text(e.kind) == "progress.epoch_end" && value(e.rank) >= 0 && ranks.contains(value(e.rank))) found = &e;
  }
  return found;
}
const model::Event* last_step(const Context& context, const model::RankSet& ranks) {
  const model::Event* found = nullptr;
  for (const auto& e : context.evidence.events) {
    if (context.text(e.kind) == "progress.step" && value(e.rank) >= 0 && ranks.contains(value(e.rank))) found = &e;
  }
  return found;
}

bool uneven(const Context& context, const StackView& view, const WaitGroup& minority, const WaitGroup& majority,
            Output& out) {
  const auto& a = view.meanings[minority.thread];
  const auto& b = view.meanings[majority.thread];
  if (a.phase("validation") == b.phase("validation") || a.phase("save") || b.phase("save")) return false;
  const bool minority_ahead = a.phase("validation");
  auto f = start(context, view, minority, majority);
  f.cause = "uneven_inputs";
  f.confidence = 0.7;
  const auto& ahead = minority_ahead ? minority : majority;
  const auto& behind = minority_ahead ? majority : minority;
  f.ranks = ahead.ranks;
  f.culprits = rank_culprits(context, ahead.ranks);
  f.title = fmt::format(
      "{} left training for validation ({}) while {} still train{} ({}): uneven inputs, fewer batches on {}",
      who(context, ahead.ranks), wait_text(context, view, ahead), who(context, behind.ranks),
      behind.ranks.size() == 1 ? "s" : "", wait_text(context, view, behind), who(context, ahead.ranks));
  if (const auto* end = epoch_end(context, ahead.ranks)) {
    f.confidence = 0.85;
    f.title += fmt::format(" (\"{}\")", base::ellipsize(context.text(end->text), 80));
    f.evidence.push_back(cite(context, *end, "this rank finished its epoch"));
  }
  if (const auto* step = last_step(context, behind.ranks | (view.timed_out - ahead.ranks))) {
    f.evidence.push_back(cite(context, *step, "the last step of a rank that still trains"));
  }
  // Ranks that the watchdog shows in the training collective are not ahead, whatever their stacks lack.
  f.actions = {
      {.text =
           "Equalise the batches per rank (drop_last, repeat to the same length, or DistributedSampler), or wrap training in Join",
       .risk = model::Risk::kLow},
      {.text = "Agree on the end of the epoch with an all_reduce of a flag before leaving the loop",
       .risk = model::Risk::kLow}};
  f.needs = {"Number of batches (or shards) per rank"};
  for (const auto& fact : context.evidence.facts) {
    const auto key = context.text(fact.key);
    if (f.evidence.size() >= 6 || !base::contains_ignore_case(key, "per_rank")) continue;
    f.evidence.push_back(cite(context, fact.at, context.text(fact.text), "inputs per rank"));
  }
  out.findings.push_back(std::move(f));
  return true;
}

bool generate_loop(const Context& context, const StackView& view, const WaitGroup& minority, const WaitGroup& majority,
                   Output& out) {
  const auto& a = view.meanings[minority.thread];
  const auto& b = view.meanings[majority.thread];
  if (a.phase("generate") == b.phase("generate")) return false;
  const auto& inside = a.phase("generate") ? minority : majority;
  auto f = start(context, view, minority, majority);
  f.cause = "zero3_generate";
  f.confidence = 0.65;
  f.title = fmt::format(
      "{} still generate{} ({}) while {} left the generation loop ({}): loops of unequal length issue different collectives",
      who(context, inside.ranks), inside.ranks.size() == 1 ? "s" : "", wait_text(context, view, inside),
      who(context, (&inside == &minority ? majority : minority).ranks),
      wait_text(context, view, &inside == &minority ? majority : minority));
  f.actions = {{.text = "Set synced_gpus=True in generate, so that all ranks run the same number of steps",
                .risk = model::Risk::kLow}};
  out.findings.push_back(std::move(f));
  return true;
}

// Ranks that say themselves that they ended well.
model::RankSet left(const Context& context) {
  std::vector<std::int32_t> out;
  for (const auto& e : context.evidence.events) {
    const auto kind = context.text(e.kind);
    if (value(e.rank) < 0) continue;
    for (const auto& [key, v] : e.fields) {
      const bool phase = kind == "progress.phase" && context.text(key) == "phase" && context.text(v) == "exit";
      const bool exit = kind == "exit" && context.text(key) == "exitcode" && context.text(v) == "0";
      if (phase || exit) out.push_back(value(e.rank));
    }
  }
  return model::RankSet::of(std::move(out));
}
const model::Event* leaving_line(const Context& context, const model::RankSet& ranks) {
  for (const auto& e : context.evidence.events) {
    const auto kind = context.text(e.kind);
    if ((kind == "progress.phase" || kind == "exit") && value(e.rank) >= 0 && ranks.contains(value(e.rank))) return &e;
  }
  return nullptr;
}

void add_guard(const Context& context, const StackView& view, std::uint32_t thread, model::Finding& f) {
  const auto guard = rank_guard(context, view, thread);
  if (!guard) return;
  static const RE2 kCommunicates(
      R"((?i)save|state_dict|barrier|gather|reduce|broadcast|consolidat|wait_for|finalize|sync)");
  const auto says = std::find_if(guard.body.begin(), guard.body.end(), [](const auto& l) {
    return RE2::PartialMatch(l.code, kCommunicates) && !RE2::PartialMatch(l.code, R"(\blog(ger|ging)?\.|print\()");
  });
  f.evidence.push_back(cite(context, guard.condition.fact->at, context.text(guard.condition.fact->text),
                            "only one rank enters this branch"));
  if (says == guard.body.end()) return;
  f.confidence = std::min(0.9, f.confidence + 0.1);
  f.title += fmt::format("; `{}` at line {} runs on rank 0 only, under `{}`", says->code,
                         static_cast<std::int64_t>(says->fact->number), guard.condition.code);
  f.evidence.push_back(
      cite(context, says->fact->at, context.text(says->fact->text), "a call that may hold a collective of its own"));
  f.actions.insert(
      f.actions.begin(),
      {.text = fmt::format(
           "Call `{}` on every rank (it contains a barrier or another collective) and guard only the file write inside",
           says->code),
       .risk = model::Risk::kLow});
}

// Some wait in a collective that the others have passed or never reach.
bool left_alone(const Context& context, const StackView& view, const WaitGroup& group, Output& out) {
  const auto& m = view.meanings[group.thread];
  if (m.doing != Doing::kCollective) return false;
  const auto others = (context.job.seen | left(context)) - group.ranks;
  const auto gone = left(context) - group.ranks;
  // Others are gone when they say so, or when only these ranks' watchdogs ever complained.
  const bool silent = !view.timed_out.empty() && (view.timed_out - group.ranks).empty();
  if (others.empty() || (gone.empty() && !silent) || !((others & view.waiting()).empty())) return false;
  const bool rank0 = group.ranks == model::RankSet{0};
  auto f = start(context, view, group, group);
  f.evidence.resize(1);
  f.cause = rank0 ? "rank0_only_collective" : "rank_divergent_control_flow";
  f.explains_causes = {"host_stuck", "rank_never_joined", "data_path_stall", "barrier_long_prep", "unknown"};
  f.confidence = gone.empty() ? 0.5 : rank0 ? 0.75 : 0.6;
  if (m.phase("save") && rank0) f.confidence += 0.05;
  f.title = fmt::format("{} waits in {} that {} {}", who(context, group.ranks), wait_text(context, view, group),
                        who(context, others),
                        gone.empty() ? "do not wait in: it made a collective that the other ranks did not"
                                     : fmt::format("{} passed or skipped: one collective more on {} only",
                                                   others.size() == 1 ? "has" : "have", who(context, group.ranks)));
  if (const auto* line = leaving_line(context, gone))
    f.evidence.push_back(cite(context, *line, "another rank went on and ended"));
  f.actions = {
      {.text =
           "Make every rank reach the same collectives: no collective, save or barrier inside a branch that one rank takes",
       .risk = model::Risk::kLow}};
  add_guard(context, view, group.thread, f);
  out.findings.push_back(std::move(f));
  return true;
}

bool rank0_branch(const Context& context, const StackView& view, const WaitGroup& minority, const WaitGroup& majority,
                  Output& out) {
  const auto& a = view.meanings[minority.thread];
  const auto& b = view.meanings[majority.thread];
  const auto guard = rank_guard(context, view, minority.thread);
  const bool save = a.phase("save") && !b.phase("save");
  if (minority.ranks != model::RankSet{0} || a.doing != Doing::kCollective || (!save && !guard)) return false;
  auto f = start(context, view, minority, majority);
  f.cause = "rank0_only_collective";
  f.confidence = 0.75;
  f.title = fmt::format("rank 0 alone waits in {}{}, while {} {} in {}", wait_text(context, view, minority),
                        save ? " during a save" : "", who(context, majority.ranks),
                        majority.ranks.size() == 1 ? "waits" : "wait", wait_text(context, view, majority));
  f.actions = {{.text = "Call the save on every rank, or keep collectives out of the branch of rank 0",
                .risk = model::Risk::kLow}};
  add_guard(context, view, minority.thread, f);
  out.findings.push_back(std::move(f));
  return true;
}

void other_divergence(const Context& context, const StackView& view, const WaitGroup& minority,
                      const WaitGroup& majority, Output& out) {
  const auto& a = view.meanings[minority.thread];
  const auto& b = view.meanings[majority.thread];
  // Ranks that wait for a device and ranks that wait for a call may wait for the same collective.
  if (a.doing != Doing::kCollective || b.doing != Doing::kCollective) return;
  const auto op_a = matched_function(context, view, minority.thread, a.collective);
  const auto op_b = matched_function(context, view, majority.thread, b.collective);
  if (op_a == op_b && a.caller == SIZE_MAX && b.caller == SIZE_MAX) return;
  auto f = start(context, view, minority, majority);
  f.cause = "rank_divergent_control_flow";
  f.explains_causes = {"host_stuck", "data_path_stall"};
  const bool tie = minority.ranks.size() == majority.ranks.size();
  f.confidence = tie ? 0.45 : op_a == op_b ? 0.5 : 0.6;
  f.title = fmt::format("{} {} in {}, the others ({}) in {}", who(context, minority.ranks),
                        minority.ranks.size() == 1 ? "waits" : "wait", wait_text(context, view, minority),
                        who(context, majority.ranks), wait_text(context, view, majority));
  if (tie) f.title += "; which of the two left the common way is not shown";
  f.actions = {{.text = fmt::format("Find the condition before {} that differs between ranks",
                                    place(context, view, minority.thread)),
                .risk = model::Risk::kNone}};
  f.needs = {
      "Flight Recorder dumps of all ranks (TORCH_NCCL_TRACE_BUFFER_SIZE=2000) to see the first call that differs"};
  out.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_stack_divergence(const Context& context, const StackView& view, Output& out) {
  const auto groups = wait_groups(context, view);
  if (groups.empty()) return;
  if (groups.size() == 1) {
    if (view.elsewhere.empty()) left_alone(context, view, groups.front(), out);
    return;
  }
  const auto& majority = groups.front();
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (two_groups(context, view, groups[i], majority, out) || uneven(context, view, groups[i], majority, out) ||
        rank0_branch(context, view, groups[i], majority, out) ||
        generate_loop(context, view, groups[i], majority, out)) {
      continue;
    }
    // With a rank that is outside of any collective the waits differ as a consequence.
    if (view.elsewhere.empty() && i == 1) other_divergence(context, view, groups[i], majority, out);
  }
}

}  // namespace holter::diagnose
