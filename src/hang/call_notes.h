// SPDX-License-Identifier: Apache-2.0
// Counters that tools and people print beside a stack: "last enqueued: tp all_to_all seq 11 ; last
// completed tp seq 10, dp seq 6".
#pragma once

#include <string>
#include <vector>

#include "model/evidence.h"
#include "model/rank_set.h"

namespace holter::hang {

struct CallNote {
  model::RankSet ranks;
  std::string group;
  model::StrId op = model::StrId::kEmpty;
  std::int64_t seq = -1;
  bool completed = false;  // else enqueued
  model::SourceRef at;
};

std::vector<CallNote> notes_of_stacks(const model::Evidence& evidence);

}  // namespace holter::hang
