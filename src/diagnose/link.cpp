// SPDX-License-Identifier: Apache-2.0
#include "diagnose/link.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/device_facts.h"

namespace holter::diagnose {

namespace {

struct Port {
  int downs = 0, ups = 0, async = 0;
  double counters = 0;     // link_downed and link_error_recovery
  double retransmits = 0;  // sequence errors and timeouts
  std::string number;
  std::int64_t first_ns = 0;
  std::vector<model::Citation> evidence;

  void note(std::int64_t ns, model::Citation c) {
    if (ns > 0 && (first_ns == 0 || ns < first_ns)) first_ns = ns;
    if (evidence.size() < 4) evidence.push_back(std::move(c));
  }
};
using Ports = std::map<std::pair<std::string, std::string>, Port>;  // host, device ("" when not said)

void read_events(const Context& context, const Names& names, Ports& ports) {
  for (const auto* e : events_of(context, "kernel.link")) {
    const auto state = field(context, *e, "state");
    auto& p = ports[{names.node(e->node), std::string(field(context, *e, "device"))}];
    if (const auto n = field(context, *e, "port"); !n.empty()) p.number = n;
    (state == "down" || state == "error" ? p.downs : p.ups) += static_cast<int>(e->repeats);
    if (state == "down" || state == "error")
      p.note(comparable_ns(*e), cite(context, *e, "the kernel saw the port go down"));
  }
  for (const auto* e : events_of(context, "nccl.async_event")) {
    const auto event = base::lower(field(context, *e, "event"));
    if (event.find("port") == std::string::npos || event.find("active") != std::string::npos) continue;
    auto& p = ports[{names.node(e->node), std::string(field(context, *e, "device"))}];
    if (const auto n = field(context, *e, "port"); !n.empty()) p.number = n;
    ++p.async;
    p.note(comparable_ns(*e), cite(context, *e, "this host's own card reports the port"));
  }
}

bool is_link_counter(std::string_view name) {
  return name.find("link_downed") != std::string_view::npos || name.find("linkdowned") != std::string_view::npos ||
         name.find("link_error_recovery") != std::string_view::npos;
}
bool is_retransmit_counter(std::string_view name) {
  for (const auto* part :
       {"packet_seq_err", "out_of_sequence", "local_ack_timeout", "rnr_nak_retry", "retrans", "symbol_error"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

void add_counter(Port& p, std::string_view name, double v, model::Citation c) {
  if (v <= 0) return;
  if (is_link_counter(name)) p.counters += v;
  else p.retransmits += v;
  p.note(0, std::move(c));
}

std::size_t column(const Context& context, const model::Table& t, std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i < t.columns.size(); ++i) {
    const auto name = base::lower(context.text(t.columns[i]));
    for (const auto n : names) {
      if (name == n) return i;
    }
  }
  return t.columns.size();
}

void read_tables(const Context& context, Ports& ports) {
  for (const auto& t : context.evidence.tables) {
    const auto host = column(context, t, {"host", "node", "hostname", "server"});
    const auto device = column(context, t, {"hca", "device", "dev", "port", "nic", "ca", "interface"});
    if (host == t.columns.size()) continue;
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
      const auto& row = t.rows[r];
      const auto dev = device < row.size() ? std::string(context.text(row[device])) : std::string();
      std::string text;
      for (const auto cell : row) text += (text.empty() ? "" : ",") + std::string(context.text(cell));
      auto at = t.at;
      if (r < t.lines.size()) at.pos = t.lines[r];
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto name = base::lower(context.text(t.columns[i]));
        if (!is_link_counter(name) && !is_retransmit_counter(name)) continue;
        const auto v = base::to_double(context.text(row[i]));
        if (v && *v > 0)
          add_counter(ports[{std::string(context.text(row[host])), dev}], name, *v,
                      cite(context, at, text, "counters of the port"));
      }
    }
  }
}

void read_facts(const Context& context, const Names& names, Ports& ports) {
  for (const auto& f : context.evidence.facts) {
    const auto key = context.text(f.key);
    if (!key.starts_with("ib.counter.") || !f.has_number) continue;
    const auto name = base::lower(key.substr(11));
    if (!is_link_counter(name) && !is_retransmit_counter(name)) continue;
    const auto subject = context.text(f.subject);
    add_counter(ports[{names.node(f.node), std::string(subject.substr(0, subject.find_first_of(" :/")))}], name,
                f.number, cite(context, f, "counter of the port"));
  }
}

// Events without a device belong to the only device of the host that has trouble too.
void join_unnamed(Ports& ports) {
  for (auto it = ports.begin(); it != ports.end();) {
    auto& [key, unnamed] = *it;
    if (!key.second.empty()) {
      ++it;
      continue;
    }
    Port* only = nullptr;
    int named = 0;
    for (auto& [k, p] : ports) {
      if (k.first != key.first || k.second.empty() || (p.downs == 0 && p.counters == 0)) continue;
      only = &p;
      ++named;
    }
    if (named != 1) {
      ++it;
      continue;
    }
    only->async += unnamed.async;
    for (auto& c : unnamed.evidence) only->note(unnamed.first_ns, std::move(c));
    it = ports.erase(it);
  }
}

struct Victims {
  std::set<std::string> hosts;
  std::vector<model::Citation> evidence;
};
// Who reports failed completions towards a host.
std::map<std::string, Victims> completion_victims(const Context& context, const Names& names) {
  std::map<std::string, Victims> out;
  for (const auto* e : events_of(context, "nccl.ib_completion")) {
    const auto peer = names.host_of_address(field(context, *e, "peer"));
    const auto host = names.node(e->node);
    if (peer.empty() || peer == host) continue;
    auto& v = out[peer];
    if (v.hosts.insert(host).second && v.evidence.size() < 3) {
      v.evidence.push_back(cite(context, *e, fmt::format("{} lost its connection to {}: a consequence", host, peer)));
    }
  }
  return out;
}

double confidence_of(const Port& p, bool victims) {
  double c = 0;
  if (p.downs >= 2) c = 0.88;
  else if (p.downs == 1) c = p.ups > 0 ? 0.6 : 0.7;
  if (p.async > 0) c = std::max(c, p.downs > 0 ? 0.9 : 0.75);
  if (p.counters > 0) c = std::max(c, c > 0 ? c + 0.03 : 0.5);
  if (victims && c > 0) c = std::min(0.95, c + 0.1);
  return c;
}

model::Finding link_finding(const std::string& host, const std::string& device, const Port& p, double confidence) {
  model::Finding f;
  f.cause = "link_flap";
  f.kind = model::VerdictKind::kNodeFault;
  f.owner = model::Owner::kNetwork;
  f.severity = model::Severity::kDegraded;
  f.restart = model::Restart::kNow;
  f.confidence = confidence;
  f.local = true;
  f.first_ns = p.first_ns;
  if (!host.empty()) f.exclude_nodes = {host};
  const auto port = p.number.empty() ? device : fmt::format("{} port {}", device.empty() ? "a card" : device, p.number);
  const auto name = device.empty() ? host : fmt::format("{}/{}", host.empty() ? "?" : host, port);
  std::vector<std::string> what;
  if (p.downs > 0) what.push_back(fmt::format("{} link down{}", p.downs, p.downs > 1 ? "s" : ""));
  if (p.async > 0) what.push_back(fmt::format("{} port error{} on its own card", p.async, p.async > 1 ? "s" : ""));
  if (p.counters > 0) what.push_back("link-down counters above zero");
  f.title = fmt::format("{}: the link flaps ({})", name, join_names(what));
  f.culprits = {{.kind = model::CulpritKind::kLink, .node = host, .name = name}};
  f.explains_causes = {"fabric_unreachable", "data_path_stall", "retransmission_storm",
                       "network_congestion", "rank_crashed",    "first_failure_elsewhere"};
  f.evidence = p.evidence;
  f.actions.push_back(
      {fmt::format("Drain {} until the link is repaired", host.empty() ? "the node" : host),
       host.empty() ? "" : fmt::format("scontrol update nodename={} state=drain reason=\"link flap {}\"", host, device),
       model::Risk::kDisruptive});
  f.actions.push_back({fmt::format("Reseat or replace the cable or transceiver of {} and look at its switch port",
                                   port.empty() ? "the port" : port),
                       device.empty() ? "" : fmt::format("mlxlink -d {} -c -e", device), model::Risk::kDisruptive});
  f.actions.push_back({"Then check that the counters stay still under load", "perfquery -x", model::Risk::kNone});
  return f;
}

void report_retransmissions(const Ports& ports, Output& output) {
  const std::pair<const std::pair<std::string, std::string>, Port>* worst = nullptr;
  double second = 0;
  for (const auto& entry : ports) {
    const auto v = entry.second.retransmits;
    if (!worst || v > worst->second.retransmits)
      second = worst ? std::max(second, worst->second.retransmits) : 0, worst = &entry;
    else second = std::max(second, v);
  }
  constexpr double kMany = 1000;
  if (!worst || worst->second.retransmits < kMany || worst->second.downs + worst->second.async > 0 ||
      worst->second.counters > 0)
    return;
  const bool alone = worst->second.retransmits > 10 * std::max(1.0, second);
  model::Finding f;
  f.cause = "retransmission_storm";
  f.kind = model::VerdictKind::kSlow;
  f.owner = model::Owner::kNetwork;
  f.severity = model::Severity::kDegraded;
  f.confidence = alone ? 0.65 : 0.4;
  f.local = alone;
  f.evidence = worst->second.evidence;
  const auto& [host, device] = worst->first;
  f.title = fmt::format("{}/{} counts {:.0f} retransmissions and sequence errors{}", host, device,
                        worst->second.retransmits, alone ? ", far above every other port" : "");
  f.culprits = {{.kind = model::CulpritKind::kLink, .node = host, .name = host + "/" + device}};
  f.actions.push_back({"Check cable, transceiver and switch port; on Ethernet also PFC and ECN settings",
                       "mlxlink -d " + device + " -c -e", model::Risk::kLow});
  f.needs = {"the counters again after a minute of load: only growth counts"};
  output.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_link(const Context& context, Output& output) {
  const Names names(context);
  Ports ports;
  read_events(context, names, ports);
  read_tables(context, ports);
  read_facts(context, names, ports);
  join_unnamed(ports);
  const auto victims = completion_victims(context, names);
  for (const auto& [key, p] : ports) {
    const auto v = victims.find(key.first);
    const auto confidence = confidence_of(p, v != victims.end());
    if (confidence < 0.3) continue;
    auto f = link_finding(key.first, key.second, p, confidence);
    if (v != victims.end()) {
      std::vector<std::string> hosts(v->second.hosts.begin(), v->second.hosts.end());
      for (const auto& c : v->second.evidence) f.evidence.push_back(c);
      output.ruled_out.push_back({"fabric_unreachable",
                                  fmt::format("{} report failed completions only towards {}: they are its victims",
                                              join_names(hosts), key.first),
                                  v->second.evidence});
    }
    output.findings.push_back(std::move(f));
  }
  report_retransmissions(ports, output);
}

}  // namespace holter::diagnose
