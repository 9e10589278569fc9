// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include <array>

namespace holter::model {

namespace {
template <typename Enum, std::size_t N>
const char* name_of(Enum e, const std::array<const char*, N>& names) {
  const auto i = static_cast<std::size_t>(e);
  return i < N ? names[i] : "unknown";
}
}  // namespace

const char* to_string(VerdictKind k) {
  static constexpr std::array names{"hang",    "slow",   "crash",    "init",    "config", "external",    "node_fault",
                                    "numeric", "memory", "accuracy", "latency", "none",   "undetermined"};
  return name_of(k, names);
}
const char* to_string(Certainty c) {
  static constexpr std::array names{"confirmed", "likely", "inconclusive", "no_fault"};
  return name_of(c, names);
}
const char* to_string(Restart r) {
  static constexpr std::array names{"now", "after_evidence", "no", "unknown"};
  return name_of(r, names);
}
const char* to_string(Owner o) {
  static constexpr std::array names{"user_code", "framework", "platform", "network", "storage", "vendor", "unknown"};
  return name_of(o, names);
}
const char* to_string(Role r) {
  static constexpr std::array names{"root", "contributing", "secondary"};
  return name_of(r, names);
}
const char* to_string(Severity s) {
  static constexpr std::array names{"info", "application", "degraded", "gpu_fatal", "node_fatal", "replace"};
  return name_of(s, names);
}
std::optional<Severity> parse_severity(std::string_view name) {
  for (auto s = Severity::kInfo; s <= Severity::kReplace; s = static_cast<Severity>(static_cast<int>(s) + 1)) {
    if (name == to_string(s)) return s;
  }
  return std::nullopt;
}
const char* to_string(CulpritKind k) {
  static constexpr std::array names{"rank", "group", "node", "gpu", "link", "process", "config", "software"};
  return name_of(k, names);
}
const char* to_string(Risk r) {
  static constexpr std::array names{"none", "low", "disruptive", "destructive"};
  return name_of(r, names);
}

}  // namespace holter::model
