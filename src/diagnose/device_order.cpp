// SPDX-License-Identifier: Apache-2.0
#include "diagnose/device_order.h"

#include <fmt/format.h>

#include "diagnose/places.h"

namespace holter::diagnose {

namespace {

constexpr double kStartEventsShowIt = 0.75;

// The pending call of a rank in a group.
const hang::Call* pending_in(const hang::CallState& calls, std::int32_t rank, std::uint32_t group) {
  for (const auto& call : calls.ranks.at(rank).pending) {
    if (call.group == group && !call.p2p) return &call;
  }
  return nullptr;
}

void cite_side(const Context& context, const hang::CallState& calls, const model::RankSet& side, std::uint32_t running,
               std::uint32_t held_back, model::Finding& f) {
  const auto rank = side.first();
  if (const auto* call = pending_in(calls, rank, running))
    f.evidence.push_back(cite_call(context, calls, *call, "the device of this rank has started it"));
  if (const auto* call = pending_in(calls, rank, held_back))
    f.evidence.push_back(cite_call(context, calls, *call, "issued, and not started on the device of this rank"));
}

}  // namespace

model::Finding device_order_finding(const Context& context, const hang::CallState& calls,
                                    const hang::DeviceCrossing& c) {
  model::Finding f;
  f.cause = "multi_comm_order";
  f.kind = model::VerdictKind::kHang;
  f.depth = model::Depth::kReason;
  f.owner = model::Owner::kFramework;
  f.severity = model::Severity::kApplication;
  f.restart = model::Restart::kAfterEvidence;
  f.confidence = kStartEventsShowIt;
  f.ranks = c.minority();
  f.culprits = rank_culprits(context, f.ranks);
  const auto first = calls.groups[c.first.group].label();
  const auto second = calls.groups[c.second.group].label();
  f.culprits.push_back(
      {.kind = model::CulpritKind::kSoftware, .name = fmt::format("order on the device of {} and {}", first, second)});
  f.title = fmt::format(
      "two communicators in opposite order on the devices: {} run{} {} and hold{} back {}, {} the other way round, "
      "though all hosts issued both in one order",
      who(context, c.first_side), c.first_side.size() == 1 ? "s" : "", call_name(context, calls, c.first),
      c.first_side.size() == 1 ? "s" : "", call_name(context, calls, c.second), who(context, c.second_side));
  cite_side(context, calls, c.first_side, c.first.group, c.second.group, f);
  cite_side(context, calls, c.second_side, c.second.group, c.first.group, f);
  f.explains_causes = {"data_path_stall", "unknown"};
  f.actions = {{"Make the collectives of both groups depend on each other on the device (one stream, or an event "
                "between the streams), or let NCCL 2.26 and later keep the order of the host",
                "export NCCL_LAUNCH_ORDER_IMPLICIT=1", model::Risk::kLow},
               {"Do not call two communicators from different threads at the same time", "", model::Risk::kNone}};
  f.needs = {"stacks with native frames of one rank of each side"};
  return f;
}

}  // namespace holter::diagnose
