// SPDX-License-Identifier: Apache-2.0
// Findings from the calls themselves: who made another call, who waits for whom, and whether there is
// a hang at all. Works on Flight Recorder dumps and, with less, on watchdog lines.
#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/collectives.h"
#include "diagnose/device_order.h"
#include "diagnose/divergence.h"
#include "diagnose/places.h"
#include "hang/waits.h"

namespace holter::diagnose {

namespace {

using hang::Origin;
using hang::OriginKind;

constexpr double kFreshS = 15;  // DESIGN section 7: shorter waits are part of a running step

bool timed_out(const hang::CallState& calls) {
  if (calls.from_watchdog) return true;
  for (const auto& [rank, r] : calls.ranks) {
    for (const auto& c : r.pending) {
      if (c.retired) return true;
    }
  }
  return false;
}

model::Finding base_finding(std::string_view cause, double confidence) {
  model::Finding f;
  f.cause = cause;
  f.confidence = confidence;
  f.kind = model::VerdictKind::kHang;
  f.depth = model::Depth::kMechanism;
  f.owner = model::Owner::kUnknown;
  f.restart = model::Restart::kAfterEvidence;
  f.severity = model::Severity::kApplication;
  return f;
}

class CollectiveDiagnosis {
 public:
  CollectiveDiagnosis(const Context& context, Output& out)
      : context_(context),
        out_(out),
        semantics_(context.rules),
        calls_(hang::build_calls(context.evidence, context.job)) {}

  CallAnalysis run() {
    for (const auto& d : hang::find_divergences(context_.evidence, calls_, semantics_)) {
      if (divergences_++ < kMaxFindings) out_.findings.push_back(explain_divergence(context_, calls_, d));
    }
    waits_ = hang::build_waits(context_.evidence, calls_, context_.job, semantics_);
    if (calls_.from_dumps && !timed_out(calls_) && divergences_ == 0 && is_running()) return finish();
    const auto before = out_.findings.size();
    if (!waits_.waiting.empty()) explain_origins();
    if (calls_.from_watchdog && divergences_ == 0 && out_.findings.size() == before) tell_timeout();
    else if (!waits_.waiting.empty()) return finish();
    else if (divergences_ == 0 && all_dumped()) no_fault("no call is pending in any of the dumps");
    return finish();
  }

 private:
  static constexpr std::size_t kMaxFindings = 8;

  CallAnalysis finish() { return {std::move(calls_), std::move(waits_)}; }

  // The word of one rank: something hangs, and nothing shows what.
  void tell_timeout() {
    for (const auto& w : context_.evidence.watchdog) {
      if (w.ran_ms < 0 && w.timeout_ms < 0) continue;
      model::Finding f = base_finding("unknown", 0.3);
      f.depth = model::Depth::kSymptom;
      f.title = fmt::format("a collective timed out ({}{}{}), and nothing here shows what it waited for",
                            context_.text(w.op), w.seq >= 0 ? fmt::format(" #{}", w.seq) : "",
                            value(w.rank) >= 0 ? fmt::format(" of rank {}", value(w.rank)) : "");
      if (value(w.rank) >= 0) f.ranks = {value(w.rank)};
      f.evidence = {cite(context_, w.at, context_.text(w.text), "the watchdog of this rank gave up")};
      f.needs = {"the logs, Flight Recorder dumps and stacks of all ranks"};
      out_.findings.push_back(std::move(f));
      return;
    }
  }

  // Every rank of the job has a dump with calls in it: only then does silence mean something.
  bool all_dumped() const {
    return calls_.from_dumps && !context_.evidence.entries.empty() && context_.job.ranks_expected &&
           context_.job.with_dump.size() == static_cast<std::size_t>(*context_.job.ranks_expected);
  }

  // A dump on demand in the middle of a step: every pending call is young.
  bool is_running() {
    if (!calls_.all_dated) return false;
    if (calls_.oldest_pending_s < 0 || calls_.oldest_pending_s >= kFreshS || calls_.proven_age_s >= kFreshS)
      return false;
    no_fault(
        fmt::format("the oldest pending call was {:.1f} s old when the dumps were written", calls_.oldest_pending_s));
    return true;
  }

  void no_fault(const std::string& why) {
    model::Finding f = base_finding("no_fault", 0.6);
    f.kind = model::VerdictKind::kNone;
    f.depth = model::Depth::kSymptom;
    f.restart = model::Restart::kNo;
    f.severity = model::Severity::kInfo;
    f.title = "No hang: " + why;
    for (const auto& d : context_.evidence.dumps) {
      f.evidence.push_back(
          cite(context_, {d.file, model::PosKind::kRecord, 0}, fmt::format("{} calls recorded", d.entry_count), why));
      if (f.evidence.size() == 3) break;
    }
    out_.findings.push_back(std::move(f));
  }

  bool decided() const {
    return std::any_of(waits_.origins.begin(), waits_.origins.end(), [](const Origin& o) {
      return o.certain && o.kind != OriginKind::kStall && o.kind != OriginKind::kSilent;
    });
  }

  void explain_crossings() {
    std::size_t told = 0;
    for (const auto& crossing : hang::find_device_crossings(calls_)) {
      if (told++ < kMaxFindings) out_.findings.push_back(device_order_finding(context_, calls_, crossing));
    }
  }

  void explain_origins() {
    const bool any_certain = decided();
    if (!any_certain && divergences_ == 0) explain_crossings();
    for (const auto& o : joined_origins()) {
      if (o.kind == OriginKind::kSilent && any_certain) {
        out_.gaps.push_back(
            fmt::format("no evidence of {}: they may wait as well, or hold others up", who(context_, o.ranks)));
        continue;
      }
      // One rank's word does not show that all have entered.
      if (o.kind == OriginKind::kStall && (any_certain || o.ranks.size() < 2)) continue;
      if (!o.certain && !(o.ranks & waits_.unrecorded).empty()) continue;  // told once, below
      if (out_.findings.size() < 4 * kMaxFindings) out_.findings.push_back(finding_of(o));
    }
    if (!waits_.unrecorded.empty()) explain_unrecorded(any_certain);
  }

  // The call that a rank is stuck in is missing from its dump.
  void explain_unrecorded(bool any_certain) {
    model::RankSet cut;
    for (const auto r : waits_.unrecorded.to_vector()) {
      if (calls_.ranks.at(r).partial) cut.insert(r);
    }
    const auto lapped = waits_.unrecorded - cut;
    std::string why;
    if (!lapped.empty()) why = fmt::format("the rings of {} only hold calls issued after it", who(context_, lapped));
    if (!cut.empty())
      why += fmt::format("{}the dumps of {} end before it", why.empty() ? "" : "; ", who(context_, cut));
    out_.gaps.push_back("the oldest pending call is not in the dumps: " + why);
    if (any_certain || divergences_ > 0) return;
    model::Finding f = base_finding("unknown", 0.3);
    const auto& calls = calls_.ranks.at(waits_.unrecorded.first()).unrecorded;
    f.title = fmt::format("A hang whose first call{} is not in the dumps: {}",
                          calls.size() == 1 ? fmt::format(" ({})", call_name(context_, calls_, calls[0])) : "", why);
    f.ranks = waits_.unrecorded;
    for (const auto& call : calls) {
      if (f.evidence.size() < 4) add_counters(call.group, call.rank, f);
    }
    if (!lapped.empty()) {
      f.actions.push_back({"Keep more calls per rank, so that the stuck one is still there when the job is dumped",
                           "export TORCH_FR_BUFFER_SIZE=20000 TORCH_NCCL_TRACE_BUFFER_SIZE=20000", model::Risk::kNone});
      f.needs.push_back("dumps of a run with a longer ring (TORCH_FR_BUFFER_SIZE)");
    }
    if (!cut.empty()) f.needs.push_back("the whole dumps of " + who(context_, cut));
    f.needs.push_back("stacks of " + who(context_, waits_.unrecorded) +
                      ", or NCCL RAS: they show the call that a rank is in");
    out_.findings.push_back(std::move(f));
  }

  // Origins of one kind are one answer, "ranks 12,14"; cycles and stalls of different groups are not.
  std::vector<Origin> joined_origins() const {
    std::vector<Origin> joined;
    for (const auto& o : waits_.origins) {
      const bool joins =
          o.kind == OriginKind::kHost || o.kind == OriginKind::kDevice || o.kind == OriginKind::kNeverJoined;
      const auto same = std::find_if(joined.begin(), joined.end(), [&](const Origin& j) {
        return (joins && j.kind == o.kind) || (j.kind == o.kind && j.ranks == o.ranks);
      });
      if (same == joined.end()) {
        joined.push_back(o);
        continue;
      }
      same->ranks = same->ranks | o.ranks;
      same->victims = (same->victims | o.victims) - same->ranks;
      same->groups.insert(same->groups.end(), o.groups.begin(), o.groups.end());
      same->calls.insert(same->calls.end(), o.calls.begin(), o.calls.end());
      same->certain = same->certain && o.certain;
      same->behind = std::max(same->behind, o.behind);
    }
    for (auto& o : joined) {  // collectives say more than sends
      std::stable_sort(o.calls.begin(), o.calls.end(), [](const auto& x, const auto& y) { return x.p2p < y.p2p; });
    }
    return joined;
  }
  model::Finding finding_of(const Origin& o) {
    model::Finding f = base_finding(cause_of(o), confidence_of(o));
    f.ranks = o.ranks;
    f.culprits = rank_culprits(context_, o.ranks);
    const auto where = o.calls.empty() ? std::string("a collective") : call_name(context_, calls_, o.calls.front());
    f.title = fmt::format("{}: {}", who(context_, o.ranks), sentence(o, where));
    for (const auto& call : o.calls) {
      if (f.evidence.size() < 4) f.evidence.push_back(cite_call(context_, calls_, call, role_of_call(o)));
    }
    add_status_evidence(o, f);
    add_advice(o, f);
    if (calls_.from_dumps && calls_.oldest_pending_s < 0 && !timed_out(calls_)) {
      f.needs.push_back("when the dumps were written (file times were not kept): waits below 15 s are normal");
      f.confidence -= 0.05;
    }
    if (!waits_.silent.empty()) f.needs.push_back("a dump or stack of " + who(context_, waits_.silent));
    return f;
  }

  std::string_view cause_of(const Origin& o) const {
    switch (o.kind) {
      case OriginKind::kHost: return "host_stuck";
      case OriginKind::kNeverJoined: return "rank_never_joined";
      case OriginKind::kDevice: return "device_kernel_stuck";
      case OriginKind::kSilent: return o.ranks.size() == 1 ? "host_stuck" : "unknown";
      case OriginKind::kStall: return "data_path_stall";
      case OriginKind::kGroupCycle: return "multi_pg_order";
      case OriginKind::kP2pCycle: return "p2p_cycle";
      case OriginKind::kP2pUnmatched: return "p2p_unmatched";
      case OriginKind::kLoneCall:
        return o.ranks == model::RankSet{0} ? "rank0_only_collective" : "rank_divergent_control_flow";
    }
    return "unknown";
  }

  double confidence_of(const Origin& o) const {
    switch (o.kind) {
      case OriginKind::kHost:
      case OriginKind::kNeverJoined: return o.certain ? 0.75 : 0.5;
      case OriginKind::kDevice: return 0.75;
      case OriginKind::kGroupCycle: return 0.75;
      case OriginKind::kP2pCycle: return 0.7;
      case OriginKind::kP2pUnmatched: return 0.65;
      case OriginKind::kLoneCall: return 0.75;
      case OriginKind::kSilent: return silent_confidence(o);
      case OriginKind::kStall: return 0.5;
    }
    return 0.3;
  }
  // A silent rank is a suspect: more so when it is the only one and several groups wait for it.
  double silent_confidence(const Origin& o) const {
    if (o.ranks.size() > 1 || o.victims.size() < 2 * o.ranks.size()) return 0.35;
    // It may wait for another rank without a dump.
    if (calls_.from_dumps && context_.job.ranks_expected) {
      const auto all = model::RankSet::range(0, *context_.job.ranks_expected - 1);
      if (!(all - context_.job.with_dump - o.ranks).empty()) return 0.45;
    }
    const bool several = std::any_of(o.groups.begin(), o.groups.end(), [&](auto g) { return g != o.groups[0]; });
    return several ? 0.6 : 0.5;
  }

  std::string sentence(const Origin& o, const std::string& where) const {
    const std::string waiting =
        o.victims.empty() ? ""
                          : fmt::format(" while {} wait{}", who(context_, o.victims), o.victims.size() == 1 ? "s" : "");
    switch (o.kind) {
      case OriginKind::kHost:
        return fmt::format("the host did not issue {}{}{}", where,
                           o.behind > 1 ? fmt::format(" ({} calls behind)", o.behind) : "", waiting);
      case OriginKind::kNeverJoined: return fmt::format("never entered the first call, {}{}", where, waiting);
      case OriginKind::kDevice:
        return fmt::format("{} was launched and never finished here; all other members finished it", where);
      case OriginKind::kSilent:
        return fmt::format("no evidence of {}, and every chain of waiting ends at {} in {}",
                           o.ranks.size() == 1 ? "this rank" : "these ranks", o.ranks.size() == 1 ? "it" : "them",
                           where);
      case OriginKind::kStall: return fmt::format("all entered {} and none left it", where);
      case OriginKind::kGroupCycle:
        return fmt::format("circular wait: the order of calls in {} is not the same on all ranks", groups_of(o));
      case OriginKind::kP2pCycle: return fmt::format("sends and receives wait for each other in a cycle ({})", where);
      case OriginKind::kP2pUnmatched:
        if (!o.side_known)
          return fmt::format("one of them left out a send or receive; the circle of waiting holds {}", where);
        return fmt::format("moved on without the matching send or receive of {}", where);
      case OriginKind::kLoneCall:
        return fmt::format("alone in {}; the other members went on without this call and now wait{}", where,
                           waiting.empty() ? "" : " for it");
    }
    return where;
  }
  std::string groups_of(const Origin& o) const {
    std::vector<std::string> names;
    for (const auto g : o.groups) {
      const auto label = calls_.groups[g].label();
      if (std::find(names.begin(), names.end(), label) == names.end()) names.push_back(label);
    }
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < 4; ++i) out += (i ? " and " : "") + names[i];
    return out;
  }
  static std::string_view role_of_call(const Origin& o) {
    switch (o.kind) {
      case OriginKind::kDevice: return "pending here, finished on the other members";
      case OriginKind::kGroupCycle: return "one side of the circular wait";
      case OriginKind::kStall: return "entered by every member, finished by none";
      default: return "the oldest call that still waits";
    }
  }

  // What the origin's own counters say.
  void add_status_evidence(const Origin& o, model::Finding& f) {
    if (o.calls.empty()) return;
    for (const auto r : o.ranks.to_vector()) {
      if (f.evidence.size() < 6) add_counters(o.calls.front().group, r, f);
    }
  }
  void add_counters(std::uint32_t group, std::int32_t rank, model::Finding& f) const {
    const auto& progress = calls_.groups[group].progress;
    const auto p = progress.find(rank);
    const auto* dump = dump_of(rank);
    if (p == progress.end() || !dump || !p->second.known) return;
    f.evidence.push_back(cite(context_, {dump->file, model::PosKind::kRecord, dump->entry_count},
                              fmt::format("rank {}: last entered {}, last completed {} of {}", rank, p->second.entered,
                                          p->second.completed, calls_.groups[group].label()),
                              "counters of this rank"));
  }
  const model::FrDump* dump_of(std::int32_t rank) const {
    const model::FrDump* found = nullptr;
    for (const auto& d : context_.evidence.dumps) {
      if (value(d.rank) == rank) found = &d;
    }
    return found;
  }

  void add_advice(const Origin& o, model::Finding& f) {
    const auto ranks = who(context_, o.ranks);
    switch (o.kind) {
      case OriginKind::kHost:
      case OriginKind::kNeverJoined:
      case OriginKind::kSilent:
        f.actions.push_back({"Take the stack of " + ranks +
                                 " before the job is killed: it names the line of code that holds the others up",
                             "py-spy dump --pid PID --native", model::Risk::kLow});
        f.needs.push_back("a stack of " + ranks + " (py-spy, gdb or faulthandler), and its log");
        break;
      case OriginKind::kDevice:
        f.severity = model::Severity::kDegraded;
        f.actions.push_back({"Look for an Xid or ECC error of the GPU of " + ranks +
                                 " in the kernel log; reset the device and move the rank if there is one",
                             "dmesg -T | grep -i -E 'NVRM|Xid'", model::Risk::kNone});
        f.needs.push_back("kernel log and nvidia-smi -q of the node of " + ranks);
        break;
      case OriginKind::kStall:
        f.owner = model::Owner::kNetwork;
        f.culprits.clear();
        f.culprits.push_back({.kind = model::CulpritKind::kGroup, .name = calls_.groups[o.groups.front()].label()});
        f.actions.push_back(
            {"Every member entered: look at the transport (NCCL WARN lines, link and HCA counters, peer-to-peer set-up), then at the kernel of each GPU",
             "", model::Risk::kNone});
        f.needs.push_back("NCCL_DEBUG=INFO logs, link counters of the nodes, stacks with native frames");
        break;
      case OriginKind::kGroupCycle:
        f.owner = model::Owner::kUserCode;
        f.depth = model::Depth::kReason;
        f.actions.push_back(
            {"Issue the collectives of " + groups_of(o) +
                 " in one order on every rank; remove implicit synchronisation (item, tolist, synchronize) between them",
             "", model::Risk::kNone});
        f.culprits.push_back({.kind = model::CulpritKind::kSoftware, .name = "order of calls in " + groups_of(o)});
        break;
      case OriginKind::kLoneCall:
        f.owner = model::Owner::kUserCode;
        f.depth = model::Depth::kReason;
        f.restart = model::Restart::kNo;
        f.actions.push_back(
            {"Make the call on every rank of the group, or on none: look for a branch on the rank (save, log, evaluation) around it",
             "", model::Risk::kNone});
        f.culprits.push_back({.kind = model::CulpritKind::kSoftware, .name = "a collective in a branch of " + ranks});
        break;
      case OriginKind::kP2pCycle:
      case OriginKind::kP2pUnmatched:
        if (!o.side_known) {
          f.culprits = {{.kind = model::CulpritKind::kGroup, .name = calls_.groups[o.groups.front()].label()}};
        }
        f.owner = model::Owner::kUserCode;
        f.depth = model::Depth::kReason;
        f.actions.push_back(
            {"Pair every send with its receive in one order (batch_isend_irecv), and check the schedule of the pipeline stages named here",
             "", model::Risk::kNone});
        break;
    }
  }

  const Context& context_;
  Output& out_;
  hang::SemanticsTable semantics_;
  hang::CallState calls_;
  hang::WaitGraph waits_;
  std::size_t divergences_ = 0;
};

}  // namespace

CallAnalysis diagnose_collectives(const Context& context, Output& out) {
  return CollectiveDiagnosis(context, out).run();
}

}  // namespace holter::diagnose
