// SPDX-License-Identifier: Apache-2.0
// What `holter collect` could not have: hosts without an answer, refusals, items that were too slow. Told as gaps; a
// host that does not answer is no cause by itself.
#include "diagnose/collected.h"

#include <map>

#include <fmt/format.h>

namespace holter::diagnose {

namespace {

constexpr std::size_t kMaxNamed = 4;

// What matters for a verdict when it is missing.
bool matters(std::string_view item, std::string_view status) {
  if (status == "missing") return item == "flight_recorder_pipe";
  return item != "services" && item != "fabric_manager" && item != "time_sync" && item != "net_state";
}

std::string listed(const std::vector<std::string>& hosts) {
  std::string out;
  for (std::size_t i = 0; i < hosts.size() && i < kMaxNamed; ++i) out += (i ? ", " : "") + hosts[i];
  if (hosts.size() > kMaxNamed) out += fmt::format(" and {} more", hosts.size() - kMaxNamed);
  return out;
}

}  // namespace

void diagnose_collected(const Context& context, Output& out) {
  // Equal troubles of many hosts are one line.
  std::map<std::string, std::vector<std::string>> hosts, items;
  for (const auto& f : context.evidence.facts) {
    const auto key = context.text(f.key);
    const auto status = context.text(f.value);
    if (key == "collect.host") {
      hosts[fmt::format("{}: {}", status, context.text(f.text))].emplace_back(context.text(f.subject));
    } else if (key == "collect.item" && matters(context.text(f.subject), status)) {
      items[fmt::format("{} {}: {}", context.text(f.subject), status, context.text(f.text))].emplace_back(
          context.text(f.node));
    }
  }
  for (const auto& [what, who] : hosts)
    out.gaps.push_back(fmt::format("not collected from {} ({})", listed(who), what));
  for (const auto& [what, who] : items) out.gaps.push_back(fmt::format("on {}: {}", listed(who), what));
}

}  // namespace holter::diagnose
