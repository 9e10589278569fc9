// SPDX-License-Identifier: Apache-2.0
// One question to NCCL's RAS thread (2.24 and later): the state of every communicator of the job.
// Protocol: NCCL user guide, "RAS"; lines over TCP, the reply ends with the connection.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace holter::collect {

// `address` as in NCCL_RAS_ADDR ("localhost:28028"). The whole job answers through any one of its processes, and it
// costs every process a little: ask once. Codes: kNotFound nobody listens there, kUnavailable no answer in time.
base::Result<std::string> ask_ras(const std::string& address, std::chrono::milliseconds deadline,
                                  std::size_t max_bytes);

}  // namespace holter::collect
