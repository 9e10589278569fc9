// SPDX-License-Identifier: Apache-2.0
// Strongly connected components (Tarjan 1972), without recursion.
#pragma once

#include <cstdint>
#include <vector>

namespace holter::hang {

// graph[v] lists the targets of v. Returns the component number of every vertex.
std::vector<std::uint32_t> strong_components(const std::vector<std::vector<std::uint32_t>>& graph);

}  // namespace holter::hang
