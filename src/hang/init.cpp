// SPDX-License-Identifier: Apache-2.0
#include "hang/init.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace holter::hang {

using model::InitStage;

model::RankSet InitGroup::at(InitStage stage) const {
  model::RankSet out;
  for (const auto& m : members) {
    if (m.stage == stage) out.insert(m.rank);
  }
  return out;
}

const char* stage_text(InitStage stage) {
  switch (stage) {
    case InitStage::kNone: return "not started";
    case InitStage::kBootstrap: return "exchanging the unique id";
    case InitStage::kInitStart: return "in the bootstrap, waiting for all ranks";
    case InitStage::kTopology: return "exchanging topology";
    case InitStage::kConnect: return "connecting transports";
    case InitStage::kComplete: return "initialised";
    case InitStage::kDestroyed: return "destroyed";
    case InitStage::kAborted: return "aborted";
  }
  return "unknown";
}

namespace {

// Ranks in the hundred thousands would be a damaged line, not a communicator.
constexpr std::int32_t kMaxSize = 1 << 18;

void finish(InitGroup& group) {
  auto& members = group.members;
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  // The last of several attempts of one rank counts.
  std::vector<InitMember> last;
  for (const auto& m : members) {
    if (!last.empty() && last.back().rank == m.rank) last.back() = m;
    else last.push_back(m);
  }
  members = std::move(last);
  std::vector<std::int32_t> seen;
  group.slowest = members.front().stage;
  for (const auto& m : members) {
    seen.push_back(m.rank);
    group.slowest = std::min(group.slowest, m.stage);
    group.furthest = std::max(group.furthest, m.stage);
  }
  group.unseen = model::RankSet::range(0, group.size - 1) - model::RankSet::of(std::move(seen));
}

}  // namespace

std::vector<InitGroup> join_initialisation(const model::Evidence& evidence) {
  std::map<std::string, InitGroup> groups;
  for (const auto& c : evidence.nccl.comms) {
    if (c.nranks <= 0 || c.nranks > kMaxSize || c.rank < 0 || c.rank >= c.nranks) continue;
    const auto printed = evidence.text(c.comm_id);
    const auto id = printed.empty() ? fmt::format("size {}", c.nranks) : std::string(printed);
    auto& g = groups[id];
    g.id = id;
    g.size = std::max(g.size, c.nranks);
    g.members.push_back({c.rank, c.stage, &c});
  }
  std::vector<InitGroup> out;
  for (auto& [id, g] : groups) {
    finish(g);
    out.push_back(std::move(g));
  }
  return out;
}

}  // namespace holter::hang
