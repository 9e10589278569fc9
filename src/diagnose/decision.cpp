// SPDX-License-Identifier: Apache-2.0
#include "diagnose/decision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holter::diagnose {

namespace {

using model::Owner;
using model::VerdictKind;

// What must change before the next attempt can succeed.
std::string_view remedy(Owner owner) {
  switch (owner) {
    case Owner::kUserCode: return "the code or its settings are changed";
    case Owner::kFramework: return "the framework or its settings are changed";
    case Owner::kPlatform: return "the platform is set right";
    case Owner::kNetwork: return "the network is repaired";
    case Owner::kStorage: return "the storage answers";
    case Owner::kVendor: return "the device is repaired or replaced";
    default: return "the cause is removed";
  }
}

// Whether processes are still there whose state a restart destroys.
bool alive(VerdictKind kind) {
  return kind == VerdictKind::kHang || kind == VerdictKind::kSlow || kind == VerdictKind::kLatency ||
         kind == VerdictKind::kInit;
}

std::string without(const model::Finding& root) {
  return fmt::format("without {}", fmt::join(root.exclude_nodes, ", "));
}

std::string now(const model::Finding& root) {
  if (!root.exclude_nodes.empty()) return fmt::format("the fault stays on the node: restart {}", without(root));
  if (root.severity == model::Severity::kNodeFatal || root.severity == model::Severity::kReplace ||
      root.severity == model::Severity::kGpuFatal)
    return "the fault stays with the device: restart without it";
  if (root.kind == VerdictKind::kExternal) return "the job was ended from outside; nothing in it needs repair";
  return "nothing known has to be repaired first; keep this evidence";
}

std::string after_evidence(const model::Finding& root) {
  const std::string_view keep = alive(root.kind)
                                    ? "a restart destroys the state that proves it: take stacks and dumps first"
                                    : "keep this evidence";
  if (!root.exclude_nodes.empty()) return fmt::format("{}, then restart {}", keep, without(root));
  return fmt::format("{}; it can happen again until {}", keep, remedy(root.owner));
}

std::string undecided(const model::Finding& root) {
  if (root.certainty == model::Certainty::kInconclusive)
    return root.needs.empty() ? "the cause is not decided" : "the cause is not decided; see what would decide it";
  if (root.kind == VerdictKind::kSlow || root.kind == VerdictKind::kLatency)
    return fmt::format("the job makes progress; it stays slow until {}", remedy(root.owner));
  return "";
}

}  // namespace

std::string decision_reason(const model::Finding& root, model::Restart restart) {
  if (root.kind == VerdictKind::kNone || root.aside) return "";
  switch (restart) {
    case model::Restart::kNow: return now(root);
    case model::Restart::kNo: return fmt::format("it fails again in the same way until {}", remedy(root.owner));
    case model::Restart::kAfterEvidence: return after_evidence(root);
    case model::Restart::kUnknown: return undecided(root);
  }
  return "";
}

}  // namespace holter::diagnose
