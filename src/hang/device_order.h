// SPDX-License-Identifier: Apache-2.0
// Two communicators in flight on the same devices, which run their collectives in opposite orders.
//
// The hosts issued the same calls in the same order, so matching and the wait-for graph see two groups that all
// members entered and none left. Start events show more: some devices run the call of one group and hold back that of
// the other, other devices do it the other way round. Needs dumps with timing (start events); without them this is
// not visible and nothing is returned.
#pragma once

#include <vector>

#include "hang/calls.h"
#include "model/rank_set.h"

namespace holter::hang {

struct DeviceCrossing {
  Call first, second;          // of the two groups; one call each, by a rank of `first_side`
  model::RankSet first_side;   // their devices run `first` and hold back `second`
  model::RankSet second_side;  // the other way round
  // The smaller side, or both when neither is.
  model::RankSet minority() const;
};

// In the order of groups.
std::vector<DeviceCrossing> find_device_crossings(const CallState& calls);

}  // namespace holter::hang
