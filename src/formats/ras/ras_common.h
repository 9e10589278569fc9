// SPDX-License-Identifier: Apache-2.0
// Spellings that both forms of a reply share.
#pragma once

#include <array>
#include <string_view>

namespace holter::formats::ras {

// In the order of model::RasRank::counts.
inline constexpr std::array<std::string_view, 5> kOps{"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};

inline int op_index(std::string_view name) {
  for (std::size_t i = 0; i < kOps.size(); ++i) {
    if (kOps[i] == name) return static_cast<int>(i);
  }
  return -1;
}

// JSON writes "0xe5a1..", text "e5a1..": one alias for both.
inline std::string_view bare_hash(std::string_view text) { return text.starts_with("0x") ? text.substr(2) : text; }

}  // namespace holter::formats::ras
