// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps (facts: PyTorch FlightRecorder.hpp, versions "bare list" to 2.10).
#pragma once

#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/source.h"

namespace holter::model {

enum class OpState : std::uint8_t { kUnknown, kScheduled, kStarted, kCompleted };

// Index into Evidence::shapes, ::rank_lists, ::frame_lists; 0 is "none".
enum class ShapeId : std::uint32_t { kNone = 0 };
enum class RankListId : std::uint32_t { kNone = 0 };
enum class FrameListId : std::uint32_t { kNone = 0 };

// Sizes and dtypes of one call, as text ("[[4096, 5120]]") and as element counts.
struct Shape {
  StrId input_sizes = StrId::kEmpty;
  StrId output_sizes = StrId::kEmpty;
  StrId input_dtypes = StrId::kEmpty;
  StrId output_dtypes = StrId::kEmpty;
  std::uint64_t numel_in = 0;
  std::uint64_t numel_out = 0;
  bool operator==(const Shape&) const = default;
};

// One recorded call. Times are Unix nanoseconds, 0 when absent. Sequence numbers are -1 when absent;
// collective_seq counts kernel launches of the group, p2p_seq its send/recv launches, op_id logical
// operations; only numbers of one counter compare.
struct FrEntry {
  std::int64_t collective_seq = -1;
  std::int64_t p2p_seq = -1;
  std::int64_t op_id = -1;
  std::int64_t record_id = -1;
  std::int64_t created_ns = 0;
  std::int64_t started_ns = 0;
  std::int64_t completed_ns = 0;
  StrId group_name = StrId::kEmpty;  // key of pg_config ("41"); empty in old versions
  StrId group_desc = StrId::kEmpty;  // "TENSOR_MODEL_PARALLEL_GROUP"
  StrId op = StrId::kEmpty;          // profiling_name without backend: "all_reduce", "send 0->1"
  StrId backend = StrId::kEmpty;     // "nccl", "gloo", "xccl", "nccl2"
  StrId thread_name = StrId::kEmpty;
  ShapeId shape = ShapeId::kNone;
  FrameListId frames = FrameListId::kNone;
  std::int32_t pg_id = -1;
  std::uint32_t timeout_ms = 0;
  float duration_ms = -1;  // -1 when absent
  OpState state = OpState::kUnknown;
  bool is_p2p = false;
  bool retired = false;
};

struct FrGroup {
  StrId name = StrId::kEmpty;
  StrId desc = StrId::kEmpty;
  RankListId ranks = RankListId::kNone;  // ordered global ranks; kNone when the dump does not say
};

struct FrStatus {
  std::int32_t pg_id = -1;
  StrId group_name = StrId::kEmpty;  // key of pg_config; from the entries, else by order of both keys
  std::int64_t last_enqueued = -1;   // -1: never, or not recorded
  std::int64_t last_started = -1;
  std::int64_t last_completed = -1;
};

// One proxy operation out of nccl_comm_state (NCCLX), or of any other source of proxy states.
struct ProxyOp {
  StrId comm = StrId::kEmpty;  // commHash
  std::int32_t channel = -1;
  std::int32_t peer = -1;  // rank in the communicator
  std::int64_t op_count = -1;
  std::int32_t steps = -1;
  std::int32_t posted = -1, received = -1, transmitted = -1, done_steps = -1;
  bool is_send = false;
  bool done = false;
};

struct FrDump {
  FileId file = FileId::kNone;
  GlobalRank rank = GlobalRank::kNone;  // from file name or content (evidence/ decides)
  StrId version = StrId::kEmpty;
  StrId nccl_version = StrId::kEmpty;
  std::vector<FrGroup> groups;
  std::vector<FrStatus> statuses;
  std::vector<ProxyOp> proxy_ops;
  // Entries [first_entry, first_entry + entry_count) of Evidence::entries, oldest first.
  std::size_t first_entry = 0;
  std::size_t entry_count = 0;
  bool has_status = false;
  bool truncated = false;
  std::int64_t file_time_ns = 0;
  std::uint32_t clock = 0;  // index into Evidence::clocks
};

}  // namespace holter::model
