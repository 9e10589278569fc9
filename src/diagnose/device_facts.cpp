// SPDX-License-Identifier: Apache-2.0
#include "diagnose/device_facts.h"

#include <set>

#include "base/pci.h"
#include "base/strings.h"

namespace holter::diagnose {

EventRefs events_of(const Context& context, std::string_view kind) {
  EventRefs out;
  for (const auto& e : context.evidence.events) {
    if (context.text(e.kind) == kind) out.push_back(&e);
  }
  return out;
}

std::string_view field(const Context& context, const model::Event& event, std::string_view key) {
  for (const auto& [k, v] : event.fields) {
    if (context.text(k) == key) return context.text(v);
  }
  return {};
}

std::int64_t comparable_ns(const model::Event& event) { return event.time.comparable() ? event.time.job_ns() : 0; }

std::string_view address_only(std::string_view peer) { return peer.substr(0, peer.find('<')); }

Names::Names(const Context& context) : context_(context) {
  if (context.job.nodes.size() == 1) only_node_ = context.job.nodes.front();
  for (const auto& f : context.evidence.facts) {
    const auto key = context.text(f.key);
    if (key == "gpu.pci") {
      const auto pci = base::canonical_pci(context.text(f.value));
      if (!pci.empty()) index_[{node(f.node), pci}] = context.text(f.subject);
    } else if (key == "host.ip" || key == "host.address") {
      hosts_[std::string(context.text(f.value))] = context.text(f.node);
    }
  }
  // NCCL's own lines give the addresses of a host as well.
  for (const auto& f : context.evidence.nccl.facts) {
    const auto key = context.text(f.key);
    if (key != "ifname" && key != "oob" && key != "socket_device") continue;
    const auto value = context.text(f.value);
    const auto colon = value.find(':');
    if (colon == std::string_view::npos || f.host == model::StrId::kEmpty) continue;
    hosts_.emplace(address_only(value.substr(colon + 1)), context.text(f.host));
  }
  read_ranks();
}

void Names::read_ranks() {
  std::map<std::int32_t, std::string> node_of;
  for (const auto* f : facts_of(context_, "rank.node")) node_of[value(f->rank)] = context_.text(f->value);
  for (const auto* f : facts_of(context_, "rank.gpu")) {
    auto host = node(f->node);
    if (const auto it = node_of.find(value(f->rank)); it != node_of.end()) host = it->second;
    const auto index = std::string(context_.text(f->value));
    ranks_[{host, index}] = value(f->rank);
    const auto pci = base::canonical_pci(context_.text(f->subject));
    if (pci.empty()) continue;
    ranks_[{host, pci}] = value(f->rank);
    index_.emplace(std::pair{host, pci}, index);
  }
}

std::string Names::node(model::StrId id) const {
  return id == model::StrId::kEmpty ? only_node_ : std::string(context_.text(id));
}

std::string Names::gpu_index(std::string_view node, std::string_view pci) const {
  const auto it = index_.find({std::string(node), std::string(pci)});
  if (it != index_.end()) return it->second;
  // A listing without a node holds for the node of a log when only one listing has the address.
  std::set<std::string> found;
  for (const auto& [key, index] : index_) {
    if (key.second == pci && (key.first.empty() || node.empty())) found.insert(index);
  }
  return found.size() == 1 ? *found.begin() : std::string();
}

std::string Names::gpu(std::string_view node, std::string_view pci) const {
  std::string out = "GPU";
  const auto index = gpu_index(node, pci);
  if (!index.empty()) out += " " + index;
  if (!pci.empty()) out += index.empty() ? " " + std::string(pci) : " (" + std::string(pci) + ")";
  if (!node.empty()) out += " on " + std::string(node);
  return out;
}

std::string Names::host_of_address(std::string_view address) const {
  const auto it = hosts_.find(std::string(address_only(address)));
  return it == hosts_.end() ? std::string() : it->second;
}

std::int32_t Names::rank_of_gpu(std::string_view node, std::string_view pci) const {
  for (const auto& key : {std::string(pci), gpu_index(node, pci)}) {
    if (key.empty()) continue;
    if (const auto it = ranks_.find({std::string(node), key}); it != ranks_.end()) return it->second;
  }
  return -1;
}

std::vector<const model::Fact*> facts_of(const Context& context, std::string_view key, std::string_view node) {
  std::vector<const model::Fact*> out;
  for (const auto& f : context.evidence.facts) {
    if (context.text(f.key) != key) continue;
    if (!node.empty() && f.node != model::StrId::kEmpty && context.text(f.node) != node) continue;
    out.push_back(&f);
  }
  return out;
}

model::Citation cite(const Context& context, const model::Fact& fact, std::string_view why) {
  return cite(context, fact.at, context.text(fact.text), why);
}

std::string join_names(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i) out += i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace holter::diagnose
