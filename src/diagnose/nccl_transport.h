// SPDX-License-Identifier: Apache-2.0
// What NCCL's logs say of its set-up when hosts are compared, and what its warnings state directly.
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

// One host differs from the others: GPUDirect RDMA, network, HCAs, version, environment.
void diagnose_nccl_hosts(const Context& context, Output& output);
// Warnings: duplicate GPU, no interface, GID, unreachable, NVLS, truncated message, completions.
void diagnose_nccl_warnings(const Context& context, Output& output);

}  // namespace holter::diagnose
