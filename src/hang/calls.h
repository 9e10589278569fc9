// SPDX-License-Identifier: Apache-2.0
// The calls of the job in one form, whatever recorded them: Flight Recorder dumps, watchdog lines,
// counters printed with a stack. Groups are joined over ranks; what is not known stays unknown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hang/job.h"
#include "hang/semantics.h"
#include "model/evidence.h"

namespace holter::hang {

// One call of one rank. seq counts the collectives of the group (or, for p2p, its send/recv
// launches, which do not compare between ranks).
struct Call {
  std::uint32_t group = 0;
  std::int32_t rank = -1;  // global
  std::int64_t seq = -1;
  std::int64_t order = 0;  // issue order on this rank
  model::StrId op = model::StrId::kEmpty;
  std::uint64_t numel_in = 0, numel_out = 0;
  model::ShapeId shape = model::ShapeId::kNone;
  model::FrameListId frames = model::FrameListId::kNone;
  std::int32_t peer = -1;  // global rank of a send or receive
  bool p2p = false;
  bool send = false;
  bool retired = false;  // timed out
  bool started = false;  // its start event or the counters say that the device has started it
  std::int64_t created_ns = 0;
  std::int64_t timeout_ms = 0;
  model::SourceRef at;
};

// What is known of one rank in one group.
struct Progress {
  bool known = false;         // some record says so
  std::int64_t entered = -1;  // highest collective seq entered; a lower bound when !exact
  std::int64_t completed = -1;
  bool exact = false;
};

struct Group {
  std::string name;
  std::string desc;
  std::vector<std::int32_t> ranks;  // global, in group order; empty when no record says
  std::map<std::int32_t, Progress> progress;
  bool has_p2p = false;
  std::string label() const;  // "41 TENSOR_MODEL_PARALLEL_GROUP"
};

struct RankCalls {
  bool known = false;         // a whole dump, or a watchdog that spoke
  bool partial = false;       // truncated, or only one group is known
  std::vector<Call> pending;  // by issue order; front is the oldest
  // Calls that the counters show as pending and that the dump does not hold, because the ring was short or the
  // dump was cut: older than all of `pending`, in an order that is not known.
  std::vector<Call> unrecorded;
  // The oldest pending call, or the calls that can be it.
  std::vector<Call> heads() const;
  std::int64_t newest_created_ns = 0;
};

struct CallState {
  std::vector<Group> groups;
  std::map<std::int32_t, RankCalls> ranks;
  std::vector<std::uint32_t> entry_group;  // group of every Evidence::entries element, kNoGroup
  std::vector<std::int32_t> entry_rank;    // global rank of every element, -1
  static constexpr std::uint32_t kNoGroup = 0xffffffff;
  bool from_dumps = false;
  bool from_watchdog = false;
  // Age of the oldest pending call when its dump was written, by file times; -1 when they were not
  // kept. proven_age_s is a lower bound from the calls alone (the newest call of any rank).
  double oldest_pending_s = -1;
  bool all_dated = true;  // every dump with a pending call has a file time that can be believed
  double proven_age_s = 0;
};

CallState build_calls(const model::Evidence& evidence, const Job& job);

}  // namespace holter::hang
