// SPDX-License-Identifier: Apache-2.0
// Step 3 of the explanation of a hang: who waits for whom, and who waits for nobody.
#pragma once

#include <vector>

#include "hang/calls.h"
#include "hang/semantics.h"
#include "model/rank_set.h"
#include "model/report.h"

namespace holter::hang {

enum class OriginKind {
  kHost,          // nothing pending although others wait for it: the host did not get there
  kNeverJoined,   // as kHost, and it never entered this group at all
  kDevice,        // launched, entered, and all others have finished the call
  kSilent,        // no dump of this rank; every chain of waiting ends at it
  kStall,         // all members entered, none left
  kGroupCycle,    // ranks wait for each other in different groups
  kP2pCycle,      // sends and receives wait for each other
  kP2pUnmatched,  // a send or receive whose other half was never issued
  kLoneCall,      // few ranks alone in a call of their group; the others went on without it
};

struct Origin {
  OriginKind kind = OriginKind::kHost;
  model::RankSet ranks;               // the culprits; of a stall the members
  std::vector<std::uint32_t> groups;  // where the others wait
  std::vector<Call> calls;            // one call per group, of a waiter (or of the origin itself)
  model::RankSet victims;             // ranks whose waiting ends here
  bool certain = true;                // false: absent evidence could change it
  bool side_known = true;             // false: one of `ranks`, and nothing shows which
  std::int64_t behind = 0;            // calls that the origin lacks in the group, when known
};

struct WaitGraph {
  std::vector<Origin> origins;  // strongest first
  model::RankSet waiting;       // ranks with a pending call
  model::RankSet silent;        // members of waiting groups without evidence
  // Ranks whose dump lacks the call they are stuck in: it is one of several, or what it was decides.
  model::RankSet unrecorded;
  std::vector<model::WaitEdge> edges;  // folded, for the report
};

WaitGraph build_waits(const model::Evidence& evidence, const CallState& calls, const Job& job,
                      const SemanticsTable& semantics);

}  // namespace holter::hang
