// SPDX-License-Identifier: Apache-2.0
// NVLink and NVSwitch faults: Xid 74, Xid 144 to 150 with the vendor's decode table, SXid. The first
// fatal record of a node names the device; records of its peers follow within seconds and are victims.
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/hardware.h"
#include "formats/kernel/xid_line.h"
#include "formats/kernel/xid_table.h"

namespace holter::diagnose {

namespace {

constexpr std::int64_t kVictimWindow = 30'000'000'000;

bool is_nvlink(int n) { return n == 74 || (n >= 144 && n <= 150) || n == 155 || n == 136 || n == 166 || n == 170; }

int driver_branch(const Context& context, const std::string& node) {
  for (const auto* f : facts_of(context, "version.driver", node)) {
    const auto text = context.text(f->value);
    if (const auto branch = base::to_int<int>(text.substr(0, text.find('.')))) return *branch;
  }
  return 0;
}

// The decode of one record, for people; empty when no rule fits.
struct Decode {
  std::string text;
  bool peer = false, cable = false, ignore = false;
};
Decode decode(const Context& context, const Xid& x) {
  Decode out;
  const auto words = formats::kernel::register_words(field(context, *x.event, "registers"));
  if (x.number < 144 || x.number > 150 || words.size() < 2) return out;
  const auto matches =
      formats::kernel::decode_nvlink5(context.rules, x.number, words[0], words[1], driver_branch(context, x.node));
  if (matches.empty()) return out;
  const auto& m = matches.front();
  out.text =
      fmt::format("{} event {}: vendor table says {}, then {}{}", m.unit, m.event_code, m.resolution, m.investigatory,
                  matches.size() > 1 ? " (both register layouts fit; the driver version is not known)" : "");
  out.peer = m.investigatory == "INVESTIGATE_PEER_DEVICE";
  out.cable = m.investigatory.find("SI") != std::string::npos || m.investigatory.find("CABLES") != std::string::npos;
  out.ignore = m.resolution == "IGNORE";
  return out;
}

std::string place(const Context& context, const Xid& x) {
  std::string out;
  if (const auto unit = field(context, *x.event, "unit"); !unit.empty()) out += " " + std::string(unit);
  if (const auto link = field(context, *x.event, "link"); !link.empty()) out += " on link " + std::string(link);
  return out;
}

void add_victims(const Context& context, const std::vector<Xid>& all, const Xid& origin, model::Finding& f) {
  std::set<std::string> victims;
  for (const auto& x : all) {
    if (x.node != origin.node || x.pci == origin.pci || x.pci.empty() || !is_nvlink(x.number)) continue;
    if (origin.ns > 0 && x.ns > 0 && x.ns - origin.ns > kVictimWindow) continue;
    if (victims.insert(x.pci).second && victims.size() <= 4) {
      f.evidence.push_back(cite(context, *x.event, "a peer reports the same event after it: secondary"));
    }
  }
  if (!victims.empty()) {
    f.title += fmt::format("; records on {} and Xid 45 are secondary",
                           join_names(std::vector<std::string>(victims.begin(), victims.end())));
  }
}

model::Finding base_finding(const std::string& node) {
  model::Finding f;
  f.cause = "nvlink_hw";
  f.kind = model::VerdictKind::kNodeFault;
  f.owner = model::Owner::kPlatform;
  f.restart = model::Restart::kNow;
  f.local = true;
  f.explains_causes = {"app_kernel_fault", "rank_crashed", "gpu_hw_degraded", "device_kernel_stuck", "data_path_stall"};
  if (!node.empty()) f.exclude_nodes = {node};
  return f;
}

void add_actions(const Names& names, const Xid& x, const Decode& d, model::Finding& f) {
  f.actions.push_back(drain(x.node, fmt::format("NVLink fault, Xid {}", x.number)));
  f.actions.push_back({fmt::format("Reset all GPUs of the node or reboot it; {} to field diagnostics when it repeats",
                                   names.gpu(x.node, x.pci)),
                       "", model::Risk::kDisruptive});
  if (d.peer)
    f.actions.push_back({"The code points at the other end of the link: look at the peer device as well",
                         "nvidia-smi nvlink -e", model::Risk::kNone});
  if (d.cable)
    f.actions.push_back({"Check signal quality and cables of the link", "nvidia-smi nvlink -e", model::Risk::kNone});
}

void report_xids(const Context& context, const Names& names, const std::vector<Xid>& all, Output& output) {
  std::set<std::string> done;
  for (const auto& x : all) {
    if (!is_nvlink(x.number) || x.caused_by >= 0 || !done.insert(x.node).second) continue;
    const auto d = decode(context, x);
    auto f = base_finding(x.node);
    const bool soft = x.nonfatal || (d.ignore && !x.fatal);
    f.confidence = soft ? 0.5 : 0.92;
    f.severity = soft ? model::Severity::kDegraded : model::Severity::kGpuFatal;
    f.first_ns = comparable_ns(*x.event);
    f.culprits = {gpu_culprit(names, x.node, x.pci)};
    f.title = fmt::format("{}: {} NVLink fault (Xid {}{})", names.gpu(x.node, x.pci), soft ? "non-fatal" : "fatal",
                          x.number, place(context, x));
    f.evidence.push_back(cite(
        context, *x.event, d.text.empty() ? "the first NVLink record of the node" : "first NVLink record; " + d.text));
    add_victims(context, all, x, f);
    add_followers(context, all, x, f);
    for (const auto* fact : facts_of(context, "nvlink.all_inactive", x.node)) {
      if (context.text(fact->subject) == names.gpu_index(x.node, x.pci))
        f.evidence.push_back(cite(context, *fact, "all links of this GPU are down"));
    }
    add_actions(names, x, d, f);
    if (soft)
      f.needs = {"whether errors grow: nvidia-smi nvlink -e",
                 "whether the fault repeats on this link: dmesg -T | grep -E 'Xid.*(74|14[4-9]|150)'"};
    output.findings.push_back(std::move(f));
  }
}

// The word in the line decides; the table only when the line has none.
bool sxid_fatal(const Context& context, const model::Event& e, std::string_view fatality) {
  if (!fatality.empty()) return fatality == "Fatal";
  const auto info =
      formats::kernel::sxid_info(context.rules, base::to_int<int>(field(context, e, "sxid")).value_or(-1));
  return info && info->guide_class.find("fatal") == 0;
}

void report_sxids(const Context& context, const Names& names, Output& output) {
  std::set<std::string> done;
  for (const bool want_fatal : {true, false}) {
    for (const auto* e : events_of(context, "kernel.sxid")) {
      const auto node = names.node(e->node);
      const bool fatal = sxid_fatal(context, *e, field(context, *e, "fatality"));
      if (fatal != want_fatal || !done.insert(node).second) continue;
      const auto number = field(context, *e, "sxid");
      const auto info = formats::kernel::sxid_info(context.rules, base::to_int<int>(number).value_or(-1));
      auto f = base_finding(node);
      f.confidence = fatal ? 0.9 : 0.4;
      f.severity = fatal ? (info && info->guide_class == "always_fatal" ? model::Severity::kNodeFatal
                                                                        : model::Severity::kGpuFatal)
                         : model::Severity::kInfo;
      if (!fatal) f.exclude_nodes.clear(), f.explains_causes.clear();
      f.first_ns = comparable_ns(*e);
      std::string device(field(context, *e, "switch"));
      const auto link = field(context, *e, "link");
      f.title = fmt::format("{}{}: {} NVSwitch fault SXid {}{}{}", device.empty() ? "NVSwitch" : device,
                            node.empty() ? "" : " on " + node, fatal ? "fatal" : "non-fatal", number,
                            link.empty() ? "" : fmt::format(" on link {}", link),
                            info && !info->name.empty() ? fmt::format(" ({})", info->name) : "");
      f.culprits = {{.kind = model::CulpritKind::kNode, .node = node, .name = device}};
      f.evidence.push_back(cite(context, *e, fatal ? "fatal by the word in the line" : "not fatal"));
      f.actions.push_back(drain(node, fmt::format("NVSwitch SXid {}", number)));
      f.actions.push_back({"Reset all GPUs and switches of the node (reboot), then restart the fabric manager",
                           "systemctl restart nvidia-fabricmanager", model::Risk::kDisruptive});
      if (!fatal) f.needs = {"whether a fatal SXid or an Xid 74 follows"};
      output.findings.push_back(std::move(f));
    }
  }
}

}  // namespace

void diagnose_nvlink(const Context& context, Output& output) {
  const Names names(context);
  report_xids(context, names, ordered_xids(context, names), output);
  report_sxids(context, names, output);
}

}  // namespace holter::diagnose
