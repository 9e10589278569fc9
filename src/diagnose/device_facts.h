// SPDX-License-Identifier: Apache-2.0
// Look-ups that the diagnosers of hardware, links and transports share: fields of events, names of
// GPUs and hosts, facts by key.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

using EventRefs = std::vector<const model::Event*>;

// Events of a kind in the order of evidence.
EventRefs events_of(const Context& context, std::string_view kind);
// A field of an event, or empty.
std::string_view field(const Context& context, const model::Event& event, std::string_view key);
// Time of an event on the timeline of the job (model/clock.h), 0 when it has none.
std::int64_t comparable_ns(const model::Event& event);

// Names of hardware as the evidence gives them.
class Names {
 public:
  explicit Names(const Context& context);

  // The node of an event or fact: its own, else the only node of the evidence, else "".
  std::string node(model::StrId node) const;
  // Index of a GPU by PCI address on a node ("" any), or "".
  std::string gpu_index(std::string_view node, std::string_view pci) const;
  // "GPU 5 (0000:c4:00) on gn7"; leaves out what is unknown.
  std::string gpu(std::string_view node, std::string_view pci) const;
  // Host of an address "10.1.2.3<52114>" or "10.1.2.3", or "".
  std::string host_of_address(std::string_view address) const;
  // Rank on a GPU when placement facts say it, or -1.
  std::int32_t rank_of_gpu(std::string_view node, std::string_view pci) const;

 private:
  void read_ranks();

  const Context& context_;
  std::string only_node_;
  std::map<std::pair<std::string, std::string>, std::string> index_;   // node, PCI -> index
  std::map<std::string, std::string> hosts_;                           // address -> host
  std::map<std::pair<std::string, std::string>, std::int32_t> ranks_;  // node, PCI or index -> rank
};

// Facts with a key, of a node where `node` is not empty (facts without a node count for all).
std::vector<const model::Fact*> facts_of(const Context& context, std::string_view key, std::string_view node = {});
model::Citation cite(const Context& context, const model::Fact& fact, std::string_view why);

// "a", "a and b", "a, b and c".
std::string join_names(const std::vector<std::string>& names);
// "host:port" forms without the port: "10.1.2.3<52114>" -> "10.1.2.3".
std::string_view address_only(std::string_view peer);

}  // namespace holter::diagnose
