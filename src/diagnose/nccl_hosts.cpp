// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "diagnose/device_facts.h"
#include "diagnose/nccl_transport.h"

namespace holter::diagnose {

namespace {

// One value per host with the place that shows it.
struct Value {
  std::string text;
  model::Citation citation;
};
using ByHost = std::map<std::string, Value>;

// Hosts whose value is not that of the majority; empty when all agree or nobody has a majority.
std::vector<std::string> minority(const ByHost& values, std::string& common) {
  std::map<std::string, std::size_t> votes;
  for (const auto& [host, v] : values) ++votes[v.text];
  if (votes.size() < 2) return {};
  const auto best =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best->second * 2 <= values.size()) return {};
  common = best->first;
  std::vector<std::string> out;
  for (const auto& [host, v] : values) {
    if (v.text != common) out.push_back(host);
  }
  return out;
}

// All values of a key on each host, sorted and joined.
ByHost collect(const Context& context, std::string_view key) {
  std::map<std::string, std::set<std::string>> sets;
  ByHost out;
  for (const auto& f : context.evidence.nccl.facts) {
    if (context.text(f.key) != key || f.host == model::StrId::kEmpty) continue;
    const std::string host(context.text(f.host));
    if (sets[host].insert(std::string(context.text(f.value))).second && sets[host].size() == 1) {
      out[host].citation = cite(context, f.at, context.text(f.value), fmt::format("{} of {}", key, host));
    }
  }
  for (const auto& [host, values] : sets) out[host].text = fmt::format("{}", fmt::join(values, ", "));
  return out;
}

model::Finding difference(std::string_view cause, const std::vector<std::string>& hosts, double confidence,
                          std::string title) {
  model::Finding f;
  f.cause = cause;
  f.kind = model::VerdictKind::kConfig;
  f.owner = model::Owner::kPlatform;
  f.severity = model::Severity::kDegraded;
  f.confidence = confidence;
  f.local = true;
  f.title = std::move(title);
  for (const auto& h : hosts) f.culprits.push_back({.kind = model::CulpritKind::kNode, .node = h, .name = h});
  return f;
}

void add_evidence(const ByHost& values, const std::vector<std::string>& odd, model::Finding& f) {
  for (const auto& h : odd) {
    if (f.evidence.size() < 3) f.evidence.push_back(values.at(h).citation);
  }
  for (const auto& [host, v] : values) {
    if (std::find(odd.begin(), odd.end(), host) != odd.end()) continue;
    f.evidence.push_back(v.citation);
    break;
  }
}

// --- GPUDirect RDMA ----------------------------------------------------------

struct Gdr {
  int with = 0, without = 0;
  const model::NcclEdge* example = nullptr;
};

std::map<std::string, Gdr> gdr_by_host(const Context& context) {
  std::map<std::string, Gdr> out;
  for (const auto& e : context.evidence.nccl.edges) {
    const bool rdma = e.transport == model::Transport::kNetIb || e.transport == model::Transport::kNetPlugin;
    if (!rdma || e.host == model::StrId::kEmpty) continue;
    auto& g = out[std::string(context.text(e.host))];
    ++(e.gdr ? g.with : g.without);
    if (!e.gdr || !g.example) g.example = &e;
  }
  return out;
}

// What the host itself says about the module that GPUDirect RDMA needs.
void add_module_evidence(const Context& context, const Names& names, const std::string& host, model::Finding& f,
                         bool& missing) {
  for (const auto* fact : facts_of(context, "module.nvidia_peermem", host)) {
    const auto v = context.text(fact->value);
    if (v == "loaded" || fact->node == model::StrId::kEmpty) continue;
    missing = true;
    f.evidence.push_back(cite(context, *fact, "nvidia_peermem is not there"));
  }
  for (const auto* e : events_of(context, "kernel.peermem")) {
    if (!names.node(e->node).empty() && names.node(e->node) != host) continue;
    missing = true;
    f.evidence.push_back(cite(context, *e, "why nvidia_peermem does not load"));
  }
}

void report_gdr(const Context& context, const Names& names, Output& output) {
  const auto hosts = gdr_by_host(context);
  std::vector<std::string> off;
  std::string good;
  for (const auto& [host, g] : hosts) {
    if (g.with == 0) off.push_back(host);
    else if (g.without == 0) good = host;
  }
  if (off.empty() || off.size() * 2 > hosts.size() || good.empty()) return;
  auto f = difference(
      "gdr_disabled", off, 0.74,
      fmt::format("GPUDirect RDMA is not active on {}: its connections lack /GDRDMA while {} other host{} it",
                  join_names(off), hosts.size() - off.size(), hosts.size() - off.size() == 1 ? " has" : "s have"));
  f.kind = model::VerdictKind::kSlow;
  f.restart = model::Restart::kNo;
  const auto cite_edge = [&](const std::string& host, std::string_view why) {
    const auto& e = *hosts.at(host).example;
    return cite(context, e.at,
                fmt::format("Channel {:02} : {} -> {} via {}", e.channel, e.from, e.to, context.text(e.via)), why);
  };
  for (const auto& h : off) {
    if (f.evidence.size() < 2) f.evidence.push_back(cite_edge(h, "no /GDRDMA"));
  }
  f.evidence.push_back(cite_edge(good, "with /GDRDMA on another host"));
  bool missing = false;
  for (const auto& h : off) add_module_evidence(context, names, h, f, missing);
  if (missing) {
    f.confidence = 0.92;
    f.title += "; nvidia_peermem is not loaded there";
  }
  f.explains_causes = {"straggler", "network_congestion"};
  f.actions.push_back(
      {fmt::format(
           "Load nvidia_peermem on {} (install the RDMA stack before the GPU driver, or rebuild the driver), or use DMA-BUF",
           join_names(off)),
       "modprobe nvidia_peermem && lsmod | grep peermem", model::Risk::kLow});
  f.actions.push_back({"Measure again", "all_reduce_perf -b 1G -e 1G -g 8", model::Risk::kNone});
  if (!missing)
    f.needs = {"lsmod | grep peermem and dmesg | grep peermem on the host",
               "NCCL_DEBUG_SUBSYS=NET lines \"GPU Direct RDMA\" of the host"};
  output.findings.push_back(std::move(f));
}

// --- one value per host --------------------------------------------------------

void report_network(const Context& context, Output& output) {
  const auto values = collect(context, "network");
  std::string common;
  const auto odd = minority(values, common);
  std::vector<std::string> sockets;
  for (const auto& [host, v] : values) {
    if (v.text.find("Socket") != std::string::npos) sockets.push_back(host);
  }
  if (!odd.empty() && common.find("Socket") == std::string::npos && !sockets.empty()) {
    auto f = difference("net_plugin_missing", sockets, 0.8,
                        fmt::format("{} uses TCP sockets (\"Using network Socket\") while the other hosts use {}",
                                    join_names(sockets), common));
    f.kind = model::VerdictKind::kSlow;
    add_evidence(values, sockets, f);
    for (const auto& fact : context.evidence.nccl.facts) {
      const auto key = context.text(fact.key);
      if ((key == "network_failed" || key == "net_plugin") && context.text(fact.host) == sockets.front() &&
          f.evidence.size() < 5) {
        f.evidence.push_back(cite(context, fact.at, context.text(fact.value), "why"));
      }
    }
    f.actions.push_back({"Install or mount the network plugin and the RDMA devices there as on the other hosts",
                         "ibv_devinfo; ls /dev/infiniband; ldconfig -p | grep nccl-net", model::Risk::kLow});
    output.findings.push_back(std::move(f));
    return;
  }
  if (sockets.size() < 2 || sockets.size() != values.size()) return;
  auto f = difference("net_plugin_missing", {}, 0.5,
                      fmt::format("All {} hosts use TCP sockets: no RDMA network was found", sockets.size()));
  f.kind = model::VerdictKind::kSlow;
  f.local = false;
  f.depth = model::Depth::kMechanism;
  f.culprits = {{.kind = model::CulpritKind::kConfig, .name = "NCCL network"}};
  add_evidence(values, {sockets.front()}, f);
  f.needs = {"whether the hosts have RDMA cards or a cloud network plugin: ibv_devinfo"};
  f.actions.push_back(
      {"If they have: install the network plugin and pass the devices into the container", "", model::Risk::kLow});
  output.findings.push_back(std::move(f));
}

void report_value(const Context& context, std::string_view key, std::string_view cause, std::string_view what,
                  double confidence, std::string_view action, Output& output) {
  const auto values = collect(context, key);
  std::string common;
  auto odd = minority(values, common);
  bool tie = false;
  if (odd.empty()) {
    std::set<std::string> distinct;
    for (const auto& [host, v] : values) distinct.insert(v.text);
    if (distinct.size() < 2) return;
    tie = true;
    for (const auto& [host, v] : values) odd.push_back(host);
    common = values.begin()->second.text;
  }
  if (odd.size() > 16) odd.resize(16);
  auto f = difference(cause, tie ? std::vector<std::string>{} : odd, tie ? confidence - 0.1 : confidence, "");
  if (tie) {
    std::vector<std::string> parts;
    for (const auto& h : odd) parts.push_back(fmt::format("{} ({})", h, values.at(h).text));
    f.title = fmt::format("Hosts differ in {}: {}", what, join_names(parts));
    for (const auto& h : odd) f.culprits.push_back({.kind = model::CulpritKind::kNode, .node = h, .name = h});
  } else {
    f.title = fmt::format("{} {} in {}: {} against {} on the other hosts", join_names(odd),
                          odd.size() == 1 ? "differs" : "differ", what, values.at(odd.front()).text, common);
  }
  add_evidence(values, odd, f);
  f.actions.push_back({std::string(action), "", model::Risk::kLow});
  output.findings.push_back(std::move(f));
}

// Settings that are meant to differ, or change nothing between hosts.
bool is_per_host(std::string_view key) {
  for (const auto* name :
       {"NCCL_HOSTID", "DEBUG", "TOPO_FILE", "TOPO_DUMP", "GRAPH_DUMP", "NCCL_COMM_ID", "RAS", "CONF_FILE"}) {
    if (key.find(name) != std::string_view::npos) return true;
  }
  return false;
}

void report_environment(const Context& context, Output& output) {
  std::set<std::string> hosts, keys;
  for (const auto& f : context.evidence.nccl.facts) {
    if (f.host == model::StrId::kEmpty) continue;
    const auto key = context.text(f.key);
    if (key == "version" || key == "network" || key == "ifname") hosts.insert(std::string(context.text(f.host)));
    if (key.starts_with("env.") && !is_per_host(key)) keys.insert(std::string(key));
  }
  if (hosts.size() < 2) return;
  for (const auto& key : keys) {
    auto values = collect(context, key);
    for (const auto& h : hosts) {
      if (!values.contains(h)) values[h] = {"not set", {}};
    }
    std::string common;
    auto odd = minority(values, common);
    if (odd.empty()) continue;
    if (odd.size() > 16) odd.resize(16);
    const auto name = key.substr(4);
    auto f = difference("env_differs_between_hosts", odd, 0.6,
                        fmt::format("{} is {} on {} and {} on the other hosts", name, values.at(odd.front()).text,
                                    join_names(odd), common));
    f.culprits.push_back({.kind = model::CulpritKind::kConfig, .name = name});
    for (const auto& [host, v] : values) {
      if (f.evidence.size() < 3 && !v.citation.text.empty()) f.evidence.push_back(v.citation);
    }
    f.actions.push_back(
        {fmt::format("Set {} alike on all hosts: in the launcher, not in shell profiles or images", name), "",
         model::Risk::kLow});
    output.findings.push_back(std::move(f));
  }
}

// Interfaces that never reach another host.
void report_interface(const Context& context, Output& output) {
  const auto values = collect(context, "ifname");
  if (values.size() < 2) return;
  std::vector<std::string> bad;
  for (const auto& [host, v] : values) {
    for (const auto* name : {"lo:", "docker", "virbr", "cni", "br-", "veth"}) {
      if (v.text.starts_with(name)) bad.push_back(host);
    }
  }
  if (bad.empty()) return;
  auto f = difference("socket_ifname", bad, bad.size() < values.size() ? 0.82 : 0.6,
                      fmt::format("{} bootstrap{} over {}, which other hosts cannot reach", join_names(bad),
                                  bad.size() == 1 ? "s" : "", values.at(bad.front()).text));
  f.kind = model::VerdictKind::kInit;
  add_evidence(values, bad, f);
  f.explains_causes = {"rank_never_joined", "fabric_unreachable", "data_path_stall"};
  f.actions.push_back({"Name the right interface", "export NCCL_SOCKET_IFNAME=eth0", model::Risk::kLow});
  output.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_nccl_hosts(const Context& context, Output& output) {
  const Names names(context);
  report_gdr(context, names, output);
  report_network(context, output);
  report_interface(context, output);
  report_value(context, "hca", "hca_set_mismatch", "the network cards that NCCL uses", 0.7,
               "Make the card sets equal (NCCL_IB_HCA, missing or renamed devices, a card that is down)", output);
  report_value(context, "version", "nccl_version_mismatch", "the NCCL version", 0.8,
               "Use one NCCL version: same image, no other libnccl in LD_LIBRARY_PATH or LD_PRELOAD", output);
  report_environment(context, output);
}

}  // namespace holter::diagnose
