// SPDX-License-Identifier: Apache-2.0
// Warnings as events: what failed, with whom, and how. Kinds and their fields ("where" on all):
//   nccl.ib_completion     peer, status, status_name, vendor_err, opcode, type, hca
//   nccl.async_event       device, port, event, fatality
//   nccl.socket_error      peer, call, error (refused, reset, closed, timeout, unreachable, other), reason
//   nccl.ib_call           call, reason, device, gid_index, local_gid, remote_gid
//   nccl.duplicate_gpu     first, second, device     nccl.no_interface
//   nccl.version_mismatch  nccl.cuda_failure (error)  nccl.nvls_bind (error)  nccl.truncated
//   nccl.propagation       code, where               nccl.warn (everything else)
#pragma once

#include "formats/nccl/state.h"

namespace holter::formats::nccl {

// Any WARN line becomes one event.
void read_warning(const Input& in);
// INFO lines that report a failing connection ("connect to X returned Connection refused, retrying").
bool read_info_error(const Input& in);

}  // namespace holter::formats::nccl
