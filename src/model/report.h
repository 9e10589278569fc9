// SPDX-License-Identifier: Apache-2.0
// holter.report/1: what diagnose() returns and every renderer prints. The JSON form is a public
// interface (docs/reference/report.schema.json): fields are only added.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/rank_set.h"
#include "model/source.h"

namespace holter::model {

enum class VerdictKind {
  kHang,
  kSlow,
  kCrash,
  kInit,
  kConfig,
  kExternal,
  kNodeFault,
  kNumeric,
  kMemory,
  kAccuracy,
  kLatency,
  kNone,
  kUndetermined,
};
enum class Certainty { kConfirmed, kLikely, kInconclusive, kNoFault };
enum class Restart { kNow, kAfterEvidence, kNo, kUnknown };
enum class Owner { kUserCode, kFramework, kPlatform, kNetwork, kStorage, kVendor, kUnknown };
enum class Role { kRoot, kContributing, kSecondary };
enum class Severity { kInfo, kApplication, kDegraded, kGpuFatal, kNodeFatal, kReplace };
enum class CulpritKind { kRank, kGroup, kNode, kGpu, kLink, kProcess, kConfig, kSoftware };
enum class Risk { kNone, kLow, kDisruptive, kDestructive };

const char* to_string(VerdictKind);
const char* to_string(Certainty);
const char* to_string(Restart);
const char* to_string(Owner);
const char* to_string(Role);
const char* to_string(Severity);
const char* to_string(CulpritKind);
const char* to_string(Risk);
// The severity of that name ("gpu_fatal"), or nothing.
std::optional<Severity> parse_severity(std::string_view name);

struct Culprit {
  CulpritKind kind = CulpritKind::kSoftware;
  std::optional<std::int32_t> rank;
  std::string node;  // "" unknown
  std::string gpu;   // PCI address or index
  std::string peer;  // the other end of a link
  std::string name;  // group, port "ib06/mlx5_3 port 1", process, setting or code place
};

// Bytes that exist. `text` is verbatim and bounded to 400 bytes.
struct Citation {
  std::string id;  // "E1", assigned by the ranking
  SourceRef at;
  std::string source;  // path of the file, assigned by the ranking from `at`
  std::string text;
  std::string why;
  // The lines around it as they stand in the file (evidence/context fills them), each bounded.
  std::vector<std::string> context;
  std::uint64_t context_first = 0;  // line number of context[0]
};

struct Action {
  std::string text;
  std::string command;
  Risk risk = Risk::kNone;
};

// How deep a finding reaches; deeper explains shallower (used for ranking, not printed).
enum class Depth {
  kSymptom,    // something timed out, stalled or was slow
  kMechanism,  // which rank, link or device holds the others up
  kReason,     // why: the call, fault, limit or event behind it
};

struct Finding {
  std::string id;     // "F1", assigned by the ranking
  std::string cause;  // id of rules/causes.csv
  std::string title;  // one sentence that names the culprit and the reason
  Role role = Role::kContributing;
  Certainty certainty = Certainty::kInconclusive;
  double confidence = 0;  // 0..1: 0.9 a direct statement or terminal flag, 0.7 strong, 0.5 suggestive, 0.3 weak
  Severity severity = Severity::kApplication;
  Owner owner = Owner::kUnknown;
  VerdictKind kind = VerdictKind::kUndetermined;
  Restart restart = Restart::kUnknown;
  std::vector<Culprit> culprits;
  std::vector<std::string> explains;  // ids of findings
  std::vector<Citation> evidence;
  std::vector<Citation> against;
  std::vector<Action> actions;
  std::vector<std::string> needs;  // what would confirm or refute it
  std::vector<std::string> exclude_nodes;

  // For the ranking only.
  Depth depth = Depth::kReason;
  bool local = false;                        // a local reason (not "peer", "remote", "timeout")
  std::int64_t first_ns = 0;                 // earliest comparable time of its evidence; 0 unknown
  std::uint32_t first_clock = 0;             // that stamped it (Evidence::clocks), found by the ranking
  bool aside = false;                        // true of the machines, but no cause of what happened to the job
  RankSet ranks;                             // global ranks it is about
  std::vector<std::string> explains_causes;  // causes that it makes secondary wherever they appear
};

struct RuledOut {
  std::string cause;
  std::string why;
  std::vector<Citation> evidence;
};

struct TimelineEvent {
  std::int64_t ns = 0;
  std::int64_t error_ns = 0;
  std::string what;
  std::string who;       // "rank 3", "gn2"
  std::string evidence;  // citation id or source:line
};

struct GroupSummary {
  std::string name;  // "41 TENSOR_MODEL_PARALLEL_GROUP"
  std::vector<std::int32_t> ranks;
  std::string state;  // "completed 42805, 3 of 16 entered 42806"
};

// One rank's calls in one group for the timeline of collectives.
struct CallSpan {
  std::int32_t rank = -1;
  std::string group;
  std::string op;
  std::int64_t seq = -1;
  std::int64_t start_ns = 0, end_ns = 0;  // end 0: not completed
  std::string state;                      // scheduled, started, completed
};

// A node of the merged stack tree; children follow by index.
struct StackNode {
  std::string frame;  // "function (file:line)"
  RankSet ranks;
  std::uint32_t samples = 0;
  std::vector<std::uint32_t> children;
  bool fork = false;  // here the minority leaves the majority
  bool minority = false;
};
struct StackForest {
  std::vector<StackNode> nodes;  // nodes[0] is the root "all" when not empty
  std::string fork_text;
};

struct TopologyEdge {
  std::int32_t from = -1, to = -1;  // ranks of the communicator
  std::string kind;                 // "ring", "tree"
  std::int32_t channel = -1;
  std::string via;
  bool broken = false;
};
struct Topology {
  std::string communicator;
  std::vector<std::int32_t> ranks;
  std::vector<TopologyEdge> edges;
};

// "ranks 0-2 wait for rank 3 in all_reduce #903 of default_pg"
struct WaitEdge {
  RankSet waiters;
  RankSet waited;
  std::string group;
  std::string op;
  std::int64_t seq = -1;
  bool origin = false;  // the waited ranks wait for nobody
};

struct Report {
  std::string tool_version;
  std::int64_t created_ns = 0;  // 0: reproducible, omitted
  struct {
    VerdictKind kind = VerdictKind::kUndetermined;
    Certainty certainty = Certainty::kInconclusive;
    std::string summary;
  } verdict;
  struct {
    Restart restart = Restart::kUnknown;
    std::vector<std::string> exclude_nodes;
    std::string resume_from;
    std::string why;
    std::int64_t expires_ns = 0;
  } decision;
  Owner owner = Owner::kUnknown;
  struct {
    std::optional<std::int32_t> gpus_idle;
    std::optional<double> gpu_hours_lost;
    std::vector<std::string> jobs;
    RankSet waiting;  // seen to wait for the culprits; empty unless the job hangs
  } impact;
  struct {
    std::optional<std::int32_t> ranks_expected;
    RankSet ranks_seen;
    RankSet missing_ranks;
    std::vector<std::string> nodes;
    std::vector<GroupSummary> groups;
  } job;
  std::vector<Finding> findings;  // ranked, the root first
  std::vector<RuledOut> ruled_out;
  struct {
    std::vector<SourceFile> files;
    std::vector<std::string> gaps;
    std::vector<Problem> problems;
    std::vector<std::pair<std::string, double>> coverage;  // record class, seconds it spans
  } evidence;
  std::vector<TimelineEvent> timeline;
  std::vector<CallSpan> calls;
  RankSet ranks_without_calls;  // whose calls were left out of `calls` because a large job has too many
  std::vector<WaitEdge> waits;
  StackForest stacks;
  std::vector<Topology> topology;
};

}  // namespace holter::model
