// SPDX-License-Identifier: Apache-2.0
#include "hang/stack_forest.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace holter::hang {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t v) {
  hash = (hash ^ v) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}
std::uint64_t hash_of(std::uint32_t parent, model::StrId function, model::StrId file) {
  return mix(mix(1, parent), (static_cast<std::uint64_t>(function) << 32) | static_cast<std::uint32_t>(file));
}

std::uint32_t main_title(const StackForest& forest) {
  const auto& root = forest.nodes()[StackForest::kRoot];
  for (const auto c : root.children) {
    if (forest.nodes()[c].title == "main thread") return c;
  }
  return root.children.empty() ? StackForest::kRoot : root.children.front();
}

std::uint32_t largest_child(const StackForest& forest, std::uint32_t node) {
  std::uint32_t best = 0;
  std::size_t most = 0;
  for (const auto c : forest.nodes()[node].children) {
    const auto& n = forest.nodes()[c];
    const auto weight = n.ranks.empty() ? 0 : n.ranks.size();
    if (weight > most) best = c, most = weight;
  }
  return best;
}

}  // namespace

StackForest::StackForest() : edges_(1024) {
  nodes_.push_back({.title = "all"});
  leaf_ranks_.emplace_back();
}

StackForest::Edge& StackForest::slot_of(std::uint32_t parent, const model::Frame& frame) {
  const auto mask = edges_.size() - 1;
  for (auto i = hash_of(parent, frame.function, frame.file) & mask;; i = (i + 1) & mask) {
    auto& edge = edges_[i];
    const bool same = edge.parent == parent && edge.function == frame.function && edge.file == frame.file;
    if (edge.node == 0 || same) return edge;
  }
}

void StackForest::grow() {
  const auto old = std::exchange(edges_, std::vector<Edge>(edges_.size() * 2));
  for (const auto& edge : old) {
    if (edge.node != 0) slot_of(edge.parent, nodes_[edge.node].frame) = edge;
  }
}

std::uint32_t StackForest::child(std::uint32_t parent, const model::Frame& frame) {
  if (edges_used_ * 2 >= edges_.size()) grow();
  auto& edge = slot_of(parent, frame);
  if (edge.node != 0) {
    if (edge.line != frame.line && edge.line != -1) edge.line = nodes_[edge.node].frame.line = -1;
    return edge.node;
  }
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  edge = {.parent = parent, .node = id, .function = frame.function, .file = frame.file, .line = frame.line};
  ++edges_used_;
  nodes_.push_back({.frame = frame, .title = "", .parent = parent});
  leaf_ranks_.emplace_back();
  nodes_[parent].children.push_back(id);
  return id;
}

void StackForest::add(std::string_view title, std::span<const model::Frame> frames, const model::RankSet& ranks,
                      std::uint32_t samples) {
  auto found = titles_.find(title);
  if (found == titles_.end()) {
    found = titles_.emplace(title, static_cast<std::uint32_t>(nodes_.size())).first;
    nodes_[kRoot].children.push_back(found->second);
    nodes_.push_back({.title = std::string(title)});
    leaf_ranks_.emplace_back();
  }
  auto leaf = found->second;
  for (const auto& frame : frames) leaf = child(leaf, frame);
  nodes_[leaf].samples += samples;
  auto& list = leaf_ranks_[leaf];
  for (const auto& range : ranks.ranges()) {
    for (auto r = range.first; r <= range.last; ++r) {
      if (list.empty() || list.back() != r) list.push_back(r);
    }
  }
}

void StackForest::finish() {
  // Children have larger numbers than their parents.
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    auto& list = leaf_ranks_[n];
    nodes_[n].ranks = nodes_[n].ranks | model::RankSet::of(std::move(list));
    list = {};
    if (n == 0) break;
    auto& parent = nodes_[nodes_[n].parent];
    parent.samples += nodes_[n].samples;
    parent.ranks = parent.ranks | nodes_[n].ranks;
  }
}

std::vector<Fork> find_forks(const StackForest& forest) {
  std::vector<Fork> out;
  const auto& nodes = forest.nodes();
  for (std::uint32_t n = main_title(forest); n != 0 && !nodes[n].children.empty();) {
    const auto next = largest_child(forest, n);
    if (next == 0) break;
    const auto leaving = nodes[n].ranks - nodes[next].ranks;
    if (!leaving.empty()) out.push_back({n, next, leaving});
    n = next;
  }
  return out;
}

std::uint32_t fork_of(const StackForest& forest, const model::RankSet& minority) {
  const auto& nodes = forest.nodes();
  std::uint32_t n = main_title(forest);
  while (!minority.empty()) {
    std::uint32_t next = 0;
    std::size_t most = 0;
    for (const auto c : nodes[n].children) {
      const auto others = (nodes[c].ranks - minority).size();
      if (others > most) next = c, most = others;
    }
    // Go on while the way of the others is also that of the whole minority.
    if (next == 0 || !(minority - nodes[next].ranks).empty()) break;
    n = next;
  }
  return n;
}

StackForest build_forest(const model::Evidence& evidence, const std::vector<ThreadStack>& threads) {
  StackForest forest;
  for (const auto& t : threads) {
    if (t.role == model::ThreadRole::kHelper) continue;
    const auto name = evidence.text(evidence.stacks[t.sample].thread_name);
    const auto title = t.role == model::ThreadRole::kMain     ? std::string("main thread")
                       : t.role == model::ThreadRole::kWorker ? std::string("data loader workers")
                       : name.empty()                         ? std::string("other threads")
                                                              : fmt::format("thread {}", name);
    forest.add(title, t.frames, t.ranks, evidence.stacks[t.sample].samples);
  }
  forest.finish();
  return forest;
}

model::StackForest to_report(const model::Evidence& evidence, const StackForest& forest,
                             const model::RankSet& minority) {
  constexpr std::size_t kMaxNodes = 4000;
  model::StackForest out;
  const auto& nodes = forest.nodes();
  if (nodes.size() < 2) return out;
  const auto fork = minority.empty() ? 0 : fork_of(forest, minority);
  // Breadth first, so that what is left out is deep.
  std::vector<std::uint32_t> order{StackForest::kRoot};
  for (std::size_t i = 0; i < order.size() && out.nodes.size() < kMaxNodes; ++i) {
    const auto& n = nodes[order[i]];
    auto& to = out.nodes.emplace_back();
    to.frame = n.title.empty() ? frame_text(evidence, n.frame) : n.title;
    to.ranks = n.ranks;
    to.samples = n.samples;
    to.fork = fork != 0 && order[i] == fork;
    to.minority = !minority.empty() && !n.ranks.empty() && (n.ranks - minority).empty();
    for (const auto c : n.children) {
      if (order.size() >= kMaxNodes) break;
      to.children.push_back(static_cast<std::uint32_t>(order.size()));
      order.push_back(c);
    }
  }
  if (fork != 0) {
    out.fork_text =
        fmt::format("{} {} {} the others at {}", minority.size() == 1 ? "rank" : "ranks", minority.to_string(),
                    minority.size() == 1 ? "leaves" : "leave",
                    nodes[fork].title.empty() ? frame_text(evidence, nodes[fork].frame) : std::string("the start"));
  }
  if (order.size() < nodes.size()) {
    out.fork_text +=
        fmt::format("{}{} of {} nodes are shown", out.fork_text.empty() ? "" : "; ", out.nodes.size(), nodes.size());
  }
  return out;
}

}  // namespace holter::hang
