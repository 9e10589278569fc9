// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/device_facts.h"
#include "diagnose/nccl_transport.h"

namespace holter::diagnose {

namespace {

model::Finding from_event(const Context& context, const model::Event& e, std::string_view cause, double confidence,
                          std::string_view why) {
  model::Finding f;
  f.cause = cause;
  f.kind = model::VerdictKind::kInit;
  f.owner = model::Owner::kPlatform;
  f.confidence = confidence;
  f.local = true;
  f.restart = model::Restart::kAfterEvidence;
  f.first_ns = comparable_ns(e);
  f.evidence.push_back(cite(context, e, why));
  return f;
}

void report_duplicate_gpu(const Context& context, Output& output) {
  const auto events = events_of(context, "nccl.duplicate_gpu");
  std::set<std::int32_t> ranks;
  if (events.empty()) return;
  for (const auto* e : events) {
    for (const auto* key : {"first", "second"}) {
      if (const auto r = base::to_int<std::int32_t>(field(context, *e, key))) ranks.insert(*r);
    }
  }
  const auto& e = *events.front();
  auto f = from_event(context, e, "device_mapping", 0.95, "NCCL names both ranks and the device");
  const auto node = std::string(context.text(e.node));
  f.title = fmt::format("Ranks {} use one GPU (bus id {}){}", fmt::join(ranks, " and "), field(context, e, "device"),
                        node.empty() ? "" : " on " + node);
  for (const auto r : ranks) {
    f.culprits.push_back({.kind = model::CulpritKind::kRank, .rank = r, .node = node});
    f.ranks.insert(r);
  }
  f.owner = model::Owner::kUserCode;
  f.explains_causes = {"rank_never_joined", "rank_crashed", "data_path_stall"};
  f.actions.push_back(
      {"Give every rank its own device: torch.cuda.set_device(LOCAL_RANK), check CUDA_VISIBLE_DEVICES and tasks per node",
       "", model::Risk::kNone});
  output.findings.push_back(std::move(f));
}

void report_no_interface(const Context& context, Output& output) {
  std::set<std::string> hosts;
  const model::Event* first = nullptr;
  for (const auto* e : events_of(context, "nccl.no_interface")) {
    hosts.insert(std::string(context.text(e->node)));
    if (!first) first = e;
  }
  if (!first) return;
  auto f = from_event(context, *first, "socket_ifname", 0.93, "NCCL found no interface to start with");
  std::string wanted;
  for (const auto& fact : context.evidence.nccl.facts) {
    if (context.text(fact.key) != "env.NCCL_SOCKET_IFNAME" || fact.host != first->node) continue;
    wanted = context.text(fact.value);
    f.evidence.push_back(cite(context, fact.at, "NCCL_SOCKET_IFNAME = " + wanted, "the setting that selects it"));
    break;
  }
  const auto names = join_names(std::vector<std::string>(hosts.begin(), hosts.end()));
  f.title = fmt::format(
      "No network interface on {}{}", names.empty() ? "the host" : names,
      wanted.empty() ? " is usable for the bootstrap" : fmt::format(" matches NCCL_SOCKET_IFNAME={}", wanted));
  for (const auto& h : hosts) f.culprits.push_back({.kind = model::CulpritKind::kNode, .node = h, .name = h});
  f.culprits.push_back({.kind = model::CulpritKind::kConfig, .name = "NCCL_SOCKET_IFNAME"});
  f.explains_causes = {"rank_never_joined", "rank_crashed"};
  f.actions.push_back({"Name an interface that exists and reaches the other hosts",
                       "ip -br addr; export NCCL_SOCKET_IFNAME=...", model::Risk::kLow});
  output.findings.push_back(std::move(f));
}

bool is_link_local(std::string_view gid) { return gid.starts_with("fe80"); }

// ibv_modify_qp: wrong GID when the error says so at once, no path when it timed out.
void report_queue_pairs(const Context& context, Output& output) {
  const auto events = events_of(context, "nccl.ib_call");
  for (const auto* e : events) {
    const auto call = field(context, *e, "call");
    const auto reason = field(context, *e, "reason");
    if (call.starts_with("reg_mr") && base::contains_ignore_case(reason, "cannot allocate")) {
      auto f = from_event(context, *e, "memlock_limit", 0.7,
                          "registering memory failed with ENOMEM: the locked-memory limit, not memory");
      f.title =
          fmt::format("Memory registration failed on {}: the locked-memory limit is too low", context.text(e->node));
      f.culprits = {{.kind = model::CulpritKind::kNode, .node = std::string(context.text(e->node)), .name = "memlock"}};
      f.needs = {"ulimit -l inside the job step on that host"};
      f.actions.push_back({"Raise it where the job runs (slurmd, container runtime), not only in the login shell",
                           "ulimit -l unlimited", model::Risk::kLow});
      output.findings.push_back(std::move(f));
      return;
    }
    if (!call.starts_with("modify_qp") && !call.starts_with("query_gid")) continue;
    const bool timed_out = base::contains_ignore_case(reason, "timed out") || reason.starts_with("110");
    const auto index = field(context, *e, "gid_index");
    const auto gid = field(context, *e, "local_gid");
    const bool gid_fault = !timed_out || (is_link_local(gid) && !index.empty());
    auto f = from_event(context, *e, gid_fault ? "roce_gid" : "fabric_unreachable",
                        gid_fault ? (timed_out ? 0.65 : 0.75) : 0.62, "connecting a queue pair failed");
    f.owner = model::Owner::kNetwork;
    const std::string node(context.text(e->node));
    const auto device = field(context, *e, "device");
    f.title = gid_fault ? fmt::format("{}{}: GID index {}{} does not reach the peer ({})", node,
                                      device.empty() ? "" : "/" + std::string(device), index.empty() ? "in use" : index,
                                      gid.empty() ? "" : fmt::format(" ({})", gid), reason)
                        : fmt::format("{}{}: no path to the peer's card ({})", node,
                                      device.empty() ? "" : "/" + std::string(device), reason);
    f.culprits = {{.kind = gid_fault ? model::CulpritKind::kConfig : model::CulpritKind::kLink,
                   .node = node,
                   .name = gid_fault ? "NCCL_IB_GID_INDEX" : node + "/" + std::string(device)}};
    if (gid_fault) f.explains_causes = {"fabric_unreachable", "data_path_stall", "rank_never_joined"};
    f.needs = {"show_gids on both hosts", "ib_write_bw -x INDEX between the two cards with each index"};
    f.actions.push_back({"Use the index of the RoCE v2 address with a routable (IPv4) GID on every host",
                         "show_gids | grep v2; export NCCL_IB_GID_INDEX=3", model::Risk::kLow});
    output.findings.push_back(std::move(f));
    return;
  }
}

void report_nvls(const Context& context, Output& output) {
  const auto events = events_of(context, "nccl.nvls_bind");
  if (events.empty()) return;
  const auto& e = *events.front();
  std::size_t comms = 0;
  for (const auto& c : context.evidence.nccl.comms) comms += c.host == e.node && c.pid == e.pid;
  const bool many = comms >= 64;
  auto f = from_event(context, e, many ? "nvls_slots" : "fabric_manager", many ? 0.72 : 0.45,
                      "binding multicast memory failed");
  f.owner = model::Owner::kVendor;
  const std::string node(context.text(e.node));
  f.title = many ? fmt::format("NVLink SHARP multicast slots are used up{}: the process has {} communicators",
                               node.empty() ? "" : " on " + node, comms)
                 : fmt::format("NVLink SHARP multicast memory could not be bound{}", node.empty() ? "" : " on " + node);
  f.culprits = {{.kind = model::CulpritKind::kSoftware, .node = node, .name = "NVLS"}};
  f.needs = {"nvidia-smi -q | grep -A3 Fabric, the fabric manager's log, and the number of communicators"};
  f.actions.push_back(
      {"Run without NVLS to confirm; then create fewer communicators or restart the fabric manager with a GPU reset",
       "export NCCL_NVLS_ENABLE=0", model::Risk::kLow});
  output.findings.push_back(std::move(f));
}

void report_others(const Context& context, Output& output) {
  if (const auto truncated = events_of(context, "nccl.truncated"); !truncated.empty()) {
    auto f = from_event(context, *truncated.front(), "collective_shape_mismatch", 0.7,
                        "a receiver got more bytes than it expected");
    f.kind = model::VerdictKind::kHang;
    f.owner = model::Owner::kUserCode;
    f.title =
        fmt::format("Ranks disagree on a message's size: {}", context.text(truncated.front()->text).substr(0, 160));
    f.needs = {"Flight Recorder dumps of all ranks"};
    f.actions.push_back({"Compare shapes and order of the calls on both sides", "", model::Risk::kNone});
    output.findings.push_back(std::move(f));
  }
  if (const auto mismatch = events_of(context, "nccl.version_mismatch"); !mismatch.empty()) {
    auto f = from_event(context, *mismatch.front(), "nccl_version_mismatch", 0.9, "NCCL compared the versions itself");
    f.title = fmt::format("Ranks run different NCCL versions: {}", context.text(mismatch.front()->text).substr(0, 200));
    f.culprits = {{.kind = model::CulpritKind::kSoftware,
                   .node = std::string(context.text(mismatch.front()->node)),
                   .name = "libnccl"}};
    f.actions.push_back({"Use one NCCL version on all hosts",
                         "python -c 'import torch; print(torch.cuda.nccl.version())'", model::Risk::kLow});
    output.findings.push_back(std::move(f));
  }
  for (const auto* e : events_of(context, "nccl.warn")) {
    const auto text = context.text(e->text);
    if (text.find("Proxy append out of bounds") == std::string_view::npos) continue;
    auto f = from_event(context, *e, "nccl_bug", 0.55, "an internal bound of NCCL was passed");
    f.kind = model::VerdictKind::kCrash;
    f.owner = model::Owner::kVendor;
    f.title = fmt::format("NCCL{}: an internal limit was passed (\"Proxy append out of bounds\")",
                          e->node == model::StrId::kEmpty ? "" : " on " + std::string(context.text(e->node)));
    f.culprits = {{.kind = model::CulpritKind::kSoftware, .name = "libnccl"}};
    f.actions.push_back({"Try another NCCL version and report the log to its maintainers", "", model::Risk::kLow});
    f.needs = {"the same job with a newer and an older NCCL"};
    output.findings.push_back(std::move(f));
    break;
  }
}

// Failed completions and connections: the peer is meant, not the host that reports.
void report_peers(const Context& context, Output& output) {
  const Names names(context);
  std::map<std::string, EventRefs> by_peer;
  std::map<std::string, std::set<std::string>> reporters;
  for (const auto* kind : {"nccl.ib_completion", "nccl.socket_error"}) {
    for (const auto* e : events_of(context, kind)) {
      const auto status = field(context, *e, "status");
      if (status == "5") continue;  // flushed after another error: never first
      const auto peer = field(context, *e, "peer");
      if (peer.empty()) continue;
      auto host = names.host_of_address(peer);
      if (host.empty()) host = address_only(peer);
      by_peer[host].push_back(e);
      reporters[host].insert(names.node(e->node));
    }
  }
  for (auto& [peer, events] : by_peer) {
    auto& from = reporters[peer];
    if (peer == "127.0.0.1" || peer == "localhost" || from.contains(peer)) continue;
    const bool only = by_peer.size() == 1;
    const auto& e = *events.front();
    auto f = from_event(context, e, "fabric_unreachable", only && from.size() > 1 ? 0.58 : 0.5,
                        "the reporting host is a victim: the peer or the path to it is meant");
    f.kind = model::VerdictKind::kCrash;
    f.owner = model::Owner::kNetwork;
    f.depth = model::Depth::kMechanism;
    f.local = false;
    for (std::size_t i = 1; i < events.size() && f.evidence.size() < 4; ++i)
      f.evidence.push_back(cite(context, *events[i], "the same peer"));
    std::vector<std::string> hosts(from.begin(), from.end());
    f.title = fmt::format("{} lost {}: it ended, or the path to it failed",
                          hosts.empty() || hosts.front().empty() ? "Its peers" : join_names(hosts), peer);
    f.culprits = {{.kind = model::CulpritKind::kNode, .node = peer, .name = peer}};
    f.needs = {fmt::format("kernel log and job log of {}: killed, crashed, or a port that went down", peer),
               fmt::format("counters of its ports: perfquery -x; show_gids")};
    f.actions.push_back({fmt::format("Look at {} first, not at the hosts that report it", peer),
                         "dmesg -T | grep -iE 'mlx5|link|oom|Xid'", model::Risk::kNone});
    output.findings.push_back(std::move(f));
  }
}

}  // namespace

void diagnose_nccl_warnings(const Context& context, Output& output) {
  report_duplicate_gpu(context, output);
  report_no_interface(context, output);
  report_queue_pairs(context, output);
  report_nvls(context, output);
  report_others(context, output);
  report_peers(context, output);
}

}  // namespace holter::diagnose
