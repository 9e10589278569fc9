// SPDX-License-Identifier: Apache-2.0
#include "hang/components.h"

#include <algorithm>

namespace holter::hang {

std::vector<std::uint32_t> strong_components(const std::vector<std::vector<std::uint32_t>>& graph) {
  constexpr std::uint32_t kNone = 0xffffffff;
  struct Visit {
    std::uint32_t vertex;
    std::size_t next;
  };
  std::vector<std::uint32_t> component(graph.size(), kNone), index(graph.size(), kNone), low(graph.size());
  std::vector<std::uint32_t> open;
  std::vector<Visit> path;
  std::uint32_t counter = 0, components = 0;
  for (std::uint32_t root = 0; root < graph.size(); ++root) {
    if (index[root] != kNone) continue;
    path.push_back({root, 0});
    while (!path.empty()) {
      const auto v = path.back().vertex;
      if (path.back().next == 0 && index[v] == kNone) {
        index[v] = low[v] = counter++;
        open.push_back(v);
      }
      if (path.back().next < graph[v].size()) {
        const auto to = graph[v][path.back().next++];
        if (index[to] == kNone) path.push_back({to, 0});
        else if (component[to] == kNone) low[v] = std::min(low[v], index[to]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back().vertex] = std::min(low[path.back().vertex], low[v]);
      if (low[v] != index[v]) continue;
      while (component[v] == kNone) {
        component[open.back()] = components;
        open.pop_back();
      }
      ++components;
    }
  }
  return component;
}

}  // namespace holter::hang
