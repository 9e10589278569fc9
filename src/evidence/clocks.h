// SPDX-License-Identifier: Apache-2.0
// One timeline over all hosts and files: how far each clock is off, from events that several saw.
//
//   ends of one collective      all members of a synchronising collective leave it together; PyTorch's
//                               watchdog notices within 100 ms, and the median of many is far better
//   a timeout and its call      the watchdog line of a rank says for how long the call ran that the dump of
//                               the same rank dates in Unix time: the zone of that log
//   a dump signal               ranks poll the store for it once a second
//   NCCL's "Init COMPLETE"      all ranks of a communicator finish its last exchange together
//   timeouts of one collective  each rank counts from its own call, so only to within the timeout
//
// What nothing shows stays unknown (model::Clock::set 0). Times themselves are never changed.
#pragma once

#include "model/evidence.h"
#include "model/rules.h"

namespace holter::evidence {

// Fills Evidence::clocks and the clock of every comparable time and dump. Deterministic and pure.
void align_clocks(model::Evidence& evidence, const model::Rules& rules);

}  // namespace holter::evidence
