// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps that cannot be of one job: their worlds differ, or one rank belongs to groups
// that contradict each other. Attempts that names tell apart are one job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/evidence.h"

namespace holter::hang {

struct DumpJob {
  std::int32_t world = 0;  // ranks of its default group; 0 unknown
  std::vector<model::FileId> files;
  std::string where;  // "run1/nccl_trace_rank_*": a pattern of its file names
};

// The jobs in the order of their files; empty when all dumps may be of one job. At most kMaxJobs.
inline constexpr std::size_t kMaxJobs = 16;
std::vector<DumpJob> mixed_jobs(const model::Evidence& evidence);

}  // namespace holter::hang
