// SPDX-License-Identifier: Apache-2.0
// Faults of GPUs, NVLink and their driver, from kernel logs and GPU queries. The policy: the first
// fatal record in time is the fault; Xid 45 and 43 and NVLink records of peers follow it; severity is
// read off the text before the number; memory faults are decided by the remap flags; 13 and 31 are the
// application's unless they stay with one GPU over several programs.
#pragma once

#include "diagnose/device_facts.h"

namespace holter::diagnose {

// One Xid as the policy sees it.
struct Xid {
  const model::Event* event = nullptr;
  int number = 0;
  std::string node, pci;
  std::int64_t ns = 0;
  bool fatal = false;  // by the word in the line
  bool nonfatal = false;
  int caused_by = -1;
};
// All Xids, by node, then time, then place in the log; of one second the deeper record first.
std::vector<Xid> ordered_xids(const Context& context, const Names& names);
// Xid 45 and 43: channels torn down after another fault.
bool is_follower(const Xid& xid);

void diagnose_bus(const Context& context, Output& output);        // Xid 79, lost GPUs
void diagnose_nvlink(const Context& context, Output& output);     // Xid 74, 144-150, SXid
void diagnose_ecc(const Context& context, Output& output);        // Xid 48, 63, 64, 92, 94, 95, remap flags
void diagnose_gsp(const Context& context, Output& output);        // Xid 119, 120
void diagnose_app_xid(const Context& context, Output& output);    // Xid 13, 31 and their kind
void diagnose_other_xid(const Context& context, Output& output);  // everything else, also unknown numbers
void diagnose_dcgm_health(const Context& context, Output& output);
void diagnose_driver(const Context& context, Output& output);  // version skew

// Parts that several of them use.
model::Culprit gpu_culprit(const Names& names, const std::string& node, const std::string& pci);
// Drain with the scheduler's command when the node is known.
model::Action drain(const std::string& node, std::string_view reason);
model::Action reset_gpu(const Names& names, const std::string& node, const std::string& pci);
// Followers of `origin` on its node: cited as consequences, their causes explained.
void add_followers(const Context& context, const std::vector<Xid>& all, const Xid& origin, model::Finding& finding);

}  // namespace holter::diagnose
