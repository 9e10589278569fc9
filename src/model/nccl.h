// SPDX-License-Identifier: Apache-2.0
// What NCCL says of itself: communicators from logs, job state from RAS.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/ids.h"
#include "model/source.h"

namespace holter::model {

enum class InitStage : std::uint8_t {
  kNone,
  kBootstrap,
  kInitStart,
  kTopology,
  kConnect,
  kComplete,
  kDestroyed,
  kAborted,
};

// One rank of one communicator as its own log shows it.
struct NcclComm {
  SourceRef at;  // the line that identified it
  StrId host = StrId::kEmpty;
  std::int32_t pid = -1;
  StrId pointer = StrId::kEmpty;  // "0x5602a1c0b1e0", unique in the process
  StrId comm_id = StrId::kEmpty;  // commId; equal on all ranks of a communicator
  std::int32_t rank = -1;         // rank in the communicator
  std::int32_t nranks = -1;
  std::int32_t cuda_dev = -1, nvml_dev = -1;
  StrId bus_id = StrId::kEmpty;  // hex as printed
  InitStage stage = InitStage::kNone;
  GlobalRank global_rank = GlobalRank::kNone;  // of the file or line prefix
  std::int32_t nodes = -1, local_ranks = -1;   // "nNodes", "localRanks"
  // The last operation of NCCL_DEBUG_SUBSYS=COLL lines; counts compare within one function only.
  StrId last_op = StrId::kEmpty;
  std::int64_t op_count = -1;
  Timestamp start, complete;
};

enum class Transport : std::uint8_t { kUnknown, kP2p, kShm, kNetIb, kNetSocket, kNetPlugin, kCollNet, kNvls };

// "Channel 00/0 : 0[7000] -> 8[7000] [send] via NET/IB/1/GDRDMA": ranks of the communicator.
struct NcclEdge {
  SourceRef at;
  StrId host = StrId::kEmpty;
  std::int32_t pid = -1;
  StrId comm = StrId::kEmpty;  // NcclComm::pointer in that process
  std::int32_t channel = -1;
  std::int32_t from = -1, to = -1;
  bool is_send = true;
  bool has_direction = false;
  Transport transport = Transport::kUnknown;
  StrId via = StrId::kEmpty;  // verbatim after "via "
  std::int32_t device = -1;   // NIC index
  bool gdr = false;
};

struct NcclRing {
  SourceRef at;
  StrId host = StrId::kEmpty;
  std::int32_t pid = -1;
  StrId comm = StrId::kEmpty;  // NcclComm::pointer in that process
  std::int32_t channel = -1;
  std::vector<std::int32_t> order;               // whole ring, or empty
  std::int32_t prev = -1, rank = -1, next = -1;  // or one rank's place
  bool truncated = false;
};

struct NcclTree {
  SourceRef at;
  StrId host = StrId::kEmpty;
  std::int32_t pid = -1;
  StrId comm = StrId::kEmpty;  // NcclComm::pointer in that process
  std::int32_t channel = -1;
  std::int32_t rank = -1, up = -1;
  std::array<std::int32_t, 3> down{-1, -1, -1};
};

// Facts of one process: version, network, HCAs, environment. Repeated values are folded.
struct NcclProcessFact {
  SourceRef at;
  StrId host = StrId::kEmpty;
  std::int32_t pid = -1;
  StrId key = StrId::kEmpty;  // "version", "cuda_driver", "network", "hca", "gdr", "env.NCCL_X", "ifname"
  StrId value = StrId::kEmpty;
};

struct NcclLog {
  std::vector<NcclComm> comms;
  std::vector<NcclEdge> edges;
  std::vector<NcclRing> rings;
  std::vector<NcclTree> trees;
  std::vector<NcclProcessFact> facts;
};

struct RasRank {
  std::int32_t rank = -1;  // in the communicator
  StrId host = StrId::kEmpty;
  std::int32_t pid = -1;
  std::int32_t cuda_dev = -1, nvml_dev = -1;
  bool missing = false, unresponsive = false, dead = false;
  std::int32_t init_state = 0, async_error = 0;
  bool finalize = false, destroy = false, abort = false;
  // Launch counts: Broadcast, Reduce, AllGather, ReduceScatter, AllReduce; -1 unknown.
  std::array<std::int64_t, 5> counts{-1, -1, -1, -1, -1};
  std::int64_t launched = -1;  // text mode up to 2.25: operations of any kind; -1 unknown
  std::uint64_t line = 0;      // where this rank stands in the reply
  StrId text = StrId::kEmpty;  // the start of what stands there, on one line
};

// "26 ranks have launched up to operation 6650": who they are is listed for outliers only.
struct RasLaunched {
  std::int32_t ranks = 0;
  std::int32_t op = -1;  // index into RasRank::counts; -1: operations of any kind
  std::int64_t count = -1;
};

struct RasComm {
  StrId hash = StrId::kEmpty;
  std::int32_t size = -1;
  std::int32_t ranks_seen = -1;  // reported by RAS; may exceed ranks listed (text mode lists outliers only)
  StrId status = StrId::kEmpty;  // "RUNNING", "INIT", "NOCOMM", ...
  StrId errors = StrId::kEmpty;  // "INCOMPLETE", "DEAD", ...
  std::vector<RasRank> ranks;
  std::vector<RasLaunched> launched;  // text mode: sizes of the groups that differ in counts
  std::vector<StrId> warnings;        // verbatim lines of this communicator's warnings
};

struct RasReply {
  SourceRef at;
  StrId nccl_version = StrId::kEmpty;
  Timestamp time;
  bool text = false;  // text replies list outliers only
  std::int32_t timeouts = 0;
  std::vector<RasComm> comms;
};

}  // namespace holter::model
