// SPDX-License-Identifier: Apache-2.0
// Rings and trees of communicators, restored from NCCL's logs, and what errors on them say: which
// silent rank its neighbours lost.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/evidence.h"
#include "model/report.h"

namespace holter::hang {

// Ranks of the communicator in ring order, once per channel.
struct Ring {
  std::int32_t channel = -1;
  std::map<std::int32_t, std::int32_t> next;  // rank -> next rank; partial when logs are missing
  std::optional<std::int32_t> prev_of(std::int32_t rank) const;
};

struct CommTopology {
  std::string id;
  std::int32_t size = -1;
  std::vector<Ring> rings;
  std::vector<model::TopologyEdge> tree_edges;  // child -> parent
  // Processes of the communicator: (host, pid) -> rank.
  std::map<std::pair<std::string, std::int32_t>, std::int32_t> rank_of;
  std::map<std::pair<std::int32_t, std::int32_t>, std::string> via;  // edge -> transport as printed
};
std::vector<CommTopology> restore_topology(const model::Evidence& evidence);

// A rank that its ring neighbours lost while it said nothing itself.
struct LostPeer {
  std::int32_t rank = -1;
  int votes = 0;
  std::vector<const model::Event*> errors;
  std::vector<std::pair<std::int32_t, std::int32_t>> broken;  // edges that ended at it
};
std::optional<LostPeer> find_lost_peer(const model::Evidence& evidence, const CommTopology& topology);

// For the report; `broken` edges are marked.
model::Topology to_report(const CommTopology& topology, const std::set<std::pair<std::int32_t, std::int32_t>>& broken);

}  // namespace holter::hang
