// SPDX-License-Identifier: Apache-2.0
// nccl_comm_state of NCCLX builds: {communicator: {key: JSON text}} -> proxy operations.
#pragma once

#include <vector>

#include "formats/flight_recorder/value_stack.h"

namespace holter::formats::flight_recorder {

// Proxy operations of "PT_activeOps" (or "PT_activeColls", which holds them by collective). What is
// not understood is skipped; the rest of the dump does not depend on it.
std::vector<model::ProxyOp> read_comm_state(const Value& comms, const ValueStack& stack, model::Evidence& out);

}  // namespace holter::formats::flight_recorder
