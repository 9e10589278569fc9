// SPDX-License-Identifier: Apache-2.0
// Initialisation of communicators as NCCL's own logs show it: how far each rank came, who is missing
// at which stage. A rank counts as joined once any rank got past the bootstrap, since that needs all.
#pragma once

#include <string>
#include <vector>

#include "model/evidence.h"
#include "model/rank_set.h"

namespace holter::hang {

struct InitMember {
  std::int32_t rank = -1;  // in the communicator
  model::InitStage stage = model::InitStage::kNone;
  const model::NcclComm* comm = nullptr;
};

// One communicator over all ranks whose logs show it.
struct InitGroup {
  std::string id;  // commId, or "size 8" when the logs have none
  std::int32_t size = -1;
  std::vector<InitMember> members;                     // by rank; one per rank, its last attempt
  model::RankSet unseen;                               // ranks of the communicator that no log shows
  model::InitStage slowest = model::InitStage::kNone;  // of the members seen
  model::InitStage furthest = model::InitStage::kNone;
  bool finished() const { return slowest >= model::InitStage::kComplete; }
  // Ranks that stand at `slowest`.
  model::RankSet at(model::InitStage stage) const;
};

std::vector<InitGroup> join_initialisation(const model::Evidence& evidence);

// "waiting in the bootstrap for all ranks", for people.
const char* stage_text(model::InitStage stage);

}  // namespace holter::hang
