// SPDX-License-Identifier: Apache-2.0
// The job as joined from all evidence: who belongs to it and where each rank runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/evidence.h"
#include "model/rank_set.h"

namespace holter::hang {

struct Job {
  std::optional<std::int32_t> ranks_expected;   // world size when some evidence says it
  model::RankSet seen;                          // global ranks with any evidence
  model::RankSet with_dump;                     // global ranks with a Flight Recorder dump
  std::map<std::int32_t, std::string> node_of;  // global rank -> node name
  std::map<std::int32_t, std::int32_t> pid_of;
  std::vector<std::string> nodes;  // all node names seen, sorted
  model::RankSet missing() const {
    return ranks_expected ? model::RankSet::range(0, *ranks_expected - 1) - seen : model::RankSet();
  }
};

Job join_job(const model::Evidence& evidence);

}  // namespace holter::hang
