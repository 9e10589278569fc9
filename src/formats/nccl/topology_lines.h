// SPDX-License-Identifier: Apache-2.0
// Lines about who is connected to whom: channels, rings, trees. Ranks are those of the communicator.
#pragma once

#include "formats/nccl/state.h"

namespace holter::formats::nccl {

bool read_topology_line(const Input& in, State& state);

}  // namespace holter::formats::nccl
