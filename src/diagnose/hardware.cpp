// SPDX-License-Identifier: Apache-2.0
#include "diagnose/hardware.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/strings.h"

namespace holter::diagnose {

namespace {

// Among records of one second: what is deeper comes first. Consequences are printed in any order.
int depth_of(const Xid& x) {
  if (is_follower(x) || x.caused_by >= 0) return 9;
  if (x.number == 154) return 8;
  if (x.number == 79 || x.number == 167) return 0;
  if (x.number == 149 && !x.nonfatal) return 1;
  if (x.fatal) return 2;
  if (x.number == 145) return 5;
  return 3;
}

constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

bool is_follower(const Xid& xid) { return xid.number == 45 || xid.number == 43; }

std::vector<Xid> ordered_xids(const Context& context, const Names& names) {
  std::vector<Xid> out;
  for (const auto* e : events_of(context, "kernel.xid")) {
    Xid x;
    x.event = e;
    x.number = base::to_int<int>(field(context, *e, "xid")).value_or(-1);
    x.node = names.node(e->node);
    x.pci = field(context, *e, "pci");
    x.ns = e->time.kind == model::TimeKind::kNone ? 0 : e->time.ns;
    const auto fatality = field(context, *e, "fatality");
    x.fatal = fatality == "Fatal";
    x.nonfatal = !fatality.empty() && !x.fatal;
    x.caused_by = base::to_int<int>(field(context, *e, "caused_by")).value_or(-1);
    out.push_back(std::move(x));
  }
  std::stable_sort(out.begin(), out.end(), [](const Xid& a, const Xid& b) {
    return std::tuple(a.node, a.ns / kSecond, depth_of(a)) < std::tuple(b.node, b.ns / kSecond, depth_of(b));
  });
  return out;
}

model::Culprit gpu_culprit(const Names& names, const std::string& node, const std::string& pci) {
  model::Culprit c;
  c.kind = model::CulpritKind::kGpu;
  c.node = node;
  c.gpu = pci.empty() ? names.gpu_index(node, pci) : pci;
  c.name = names.gpu(node, pci);
  if (const auto rank = names.rank_of_gpu(node, pci); rank >= 0) c.rank = rank;
  return c;
}

model::Action drain(const std::string& node, std::string_view reason) {
  if (node.empty()) return {fmt::format("Drain the node: {}", reason), "", model::Risk::kDisruptive};
  return {fmt::format("Drain {}: {}", node, reason),
          fmt::format("scontrol update nodename={} state=drain reason=\"{}\"", node, reason), model::Risk::kDisruptive};
}

model::Action reset_gpu(const Names& names, const std::string& node, const std::string& pci) {
  return {fmt::format("Reset {} once no process uses it; reboot the node if the reset fails", names.gpu(node, pci)),
          fmt::format("nvidia-smi --gpu-reset -i {}", pci.empty() ? "INDEX" : pci + ".0"), model::Risk::kDisruptive};
}

void add_followers(const Context& context, const std::vector<Xid>& all, const Xid& origin, model::Finding& finding) {
  constexpr std::int64_t kWindow = 120 * kSecond;
  int cited = 0;
  for (const auto& x : all) {
    if (x.node != origin.node || x.event == origin.event || cited >= 3) continue;
    if (x.ns > 0 && origin.ns > 0 && (x.ns / kSecond < origin.ns / kSecond || x.ns - origin.ns > kWindow)) continue;
    if (!is_follower(x) && x.caused_by < 0) continue;
    finding.evidence.push_back(cite(context, *x.event,
                                    x.caused_by >= 0 ? fmt::format("secondary: caused by Xid {}", x.caused_by)
                                                     : std::string("secondary: channels torn down after the fault")));
    ++cited;
  }
}

}  // namespace holter::diagnose
