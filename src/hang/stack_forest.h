// SPDX-License-Identifier: Apache-2.0
// One forest for the job: stacks merged by common prefix, with the set of ranks on every node.
//
// Frames are equal when function and file are; lines may differ. A frame of a stack costs one look into a flat hash
// table, whether a million stacks have few shapes or many. Memory follows the number of distinct stacks and of ranks,
// not of samples.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hang/stack_meaning.h"
#include "hang/stack_threads.h"
#include "model/evidence.h"
#include "model/report.h"

namespace holter::hang {

class StackForest {
 public:
  static constexpr std::uint32_t kRoot = 0;

  struct Node {
    model::Frame frame;  // line -1 when it differs between stacks
    std::string title;   // of the root and of thread titles; empty for frames
    std::uint32_t parent = 0;
    std::uint32_t samples = 0;  // stacks that pass here
    model::RankSet ranks;       // filled by finish()
    std::vector<std::uint32_t> children;
  };

  StackForest();
  // Adds one stack below the title ("main thread"). Frames outermost first.
  void add(std::string_view title, std::span<const model::Frame> frames, const model::RankSet& ranks,
           std::uint32_t samples = 1);
  // Propagates rank sets; call once, after the last add().
  void finish();

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  // A node below `parent`, kept in the table so that finding it touches no node. `node` 0: an empty slot.
  struct Edge {
    std::uint32_t parent = 0, node = 0;
    model::StrId function = model::StrId::kEmpty, file = model::StrId::kEmpty;
    std::int32_t line = -1;
  };
  std::uint32_t child(std::uint32_t parent, const model::Frame& frame);
  Edge& slot_of(std::uint32_t parent, const model::Frame& frame);
  void grow();

  std::vector<Node> nodes_;
  std::vector<std::vector<std::int32_t>> leaf_ranks_;  // by node
  std::map<std::string, std::uint32_t, std::less<>> titles_;
  std::vector<Edge> edges_;  // open addressing; the size is a power of two, at most half is in use
  std::size_t edges_used_ = 0;
};

// Where ranks leave the way of the majority, outermost first.
struct Fork {
  std::uint32_t node = 0;      // the last common frame
  std::uint32_t majority = 0;  // the child that most ranks take
  model::RankSet leaving;      // ranks that take another child, or end here
};
// Along the majority of the first title ("main thread"); ties follow the first child.
std::vector<Fork> find_forks(const StackForest& forest);
// The deepest node on the way of the majority that all of `minority` share with it.
std::uint32_t fork_of(const StackForest& forest, const model::RankSet& minority);

// Main threads and workers of the job; helper threads are left out.
StackForest build_forest(const model::Evidence& evidence, const std::vector<ThreadStack>& threads);
// At most 4,000 nodes, the outermost; fork_text says where the minority leaves and what is left out.
model::StackForest to_report(const model::Evidence& evidence, const StackForest& forest,
                             const model::RankSet& minority);

}  // namespace holter::hang
