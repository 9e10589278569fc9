// SPDX-License-Identifier: Apache-2.0
// Step 2 of the explanation of a hang: did all members of a group make the same calls?
#pragma once

#include <vector>

#include "hang/calls.h"
#include "hang/semantics.h"
#include "model/rank_set.h"

namespace holter::hang {

enum class DivergenceKind {
  kOtherCall,  // another operation
  kOtherSize,  // same operation, other sizes
  kOtherType,  // same operation and sizes, other dtype
};

enum class Shift {
  kNone,
  kSkipped,  // the minority lacks one or more calls of the majority
  kExtra,    // the minority made calls that the majority did not
  kSwapped,  // same calls in another order
};

// At `seq` of `group` the minority made another call than the majority.
struct Divergence {
  std::uint32_t group = 0;
  std::int64_t seq = -1;
  DivergenceKind kind = DivergenceKind::kOtherCall;
  Shift shift = Shift::kNone;
  bool tie = false;  // no majority: both sides are listed, none is blamed
  model::RankSet minority;
  model::RankSet majority;
  Call minority_call;  // one representative each
  Call majority_call;
  std::uint32_t later = 0;  // further divergent calls of this group
};

// The first divergence of every group, oldest first.
std::vector<Divergence> find_divergences(const model::Evidence& evidence, const CallState& calls,
                                         const SemanticsTable& semantics);

}  // namespace holter::hang
