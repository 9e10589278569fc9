// SPDX-License-Identifier: Apache-2.0
// Which calls of a trace belong together: the newest collective of each group over its members, and
// sends with their receives where no call before them is lost.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hang/calls.h"
#include "model/evidence.h"

namespace holter::report {

enum class FlowStep : char { kBegin = 's', kOn = 't', kEnd = 'f' };

struct Flow {
  std::uint32_t id = 0;
  FlowStep step = FlowStep::kBegin;
};

// By index of the entry; at most kMaxFlows of them.
inline constexpr std::size_t kMaxFlows = 50'000;
std::unordered_map<std::size_t, Flow> find_flows(const model::Evidence& evidence, const hang::CallState& calls);

// When a call began: its start on the device where that was recorded, else when it was made; 0 unknown.
// By the clock of its host.
inline std::int64_t begin_of(const model::FrEntry& e) { return e.started_ns > 0 ? e.started_ns : e.created_ns; }

// What to subtract from the times of each entry to get those of the job.
std::vector<std::int64_t> entry_offsets(const model::Evidence& evidence);

}  // namespace holter::report
