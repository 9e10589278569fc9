// SPDX-License-Identifier: Apache-2.0
// Lines about communicators: creation, shape, end, and the operations of NCCL_DEBUG_SUBSYS=COLL.
#pragma once

#include "formats/nccl/state.h"

namespace holter::formats::nccl {

// True when the line was one of these.
bool read_comm_line(const Input& in, State& state);

}  // namespace holter::formats::nccl
