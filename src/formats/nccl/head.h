// SPDX-License-Identifier: Apache-2.0
// The head of an NCCL log line (NCCL 2.4 to 2.31, src/debug.cc):
//   host:pid:tid [cudaDev] NCCL INFO msg
//   [2026-01-02 03:04:05] host:pid:tid [cudaDev] file.cc:line NCCL WARN msg      (2.26 and later)
//   host:pid:tid NCCL CALL msg
//   host:pid:tid [cudaDev] 12.345 func:line NCCL TRACE msg
// Anything may stand before it (timestamps, stream prefixes).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace holter::formats::nccl {

enum class Level : std::uint8_t { kVersion, kInfo, kWarn, kCall, kTrace };

struct Head {
  Level level = Level::kInfo;
  std::string_view host;  // empty when the line lacks it
  std::int32_t pid = -1;
  std::int32_t device = -1;
  std::string_view where;  // "transport/net_ib.cc:1295"
  std::string_view message;
};

std::optional<Head> parse_head(std::string_view body);

// "proxy.cc:965 -> 6 [Progress Thread]": an error code on its way up the call chain.
struct Propagation {
  std::string_view where;
  std::int32_t code = 0;
};
std::optional<Propagation> parse_propagation(std::string_view message);

}  // namespace holter::formats::nccl
