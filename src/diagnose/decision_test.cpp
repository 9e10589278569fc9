// SPDX-License-Identifier: Apache-2.0
#include "diagnose/decision.h"

#include <gtest/gtest.h>

namespace holter::diagnose {
namespace {

using model::Restart;

model::Finding finding(model::VerdictKind kind, model::Owner owner) {
  model::Finding f;
  f.kind = kind;
  f.owner = owner;
  f.certainty = model::Certainty::kConfirmed;
  return f;
}

TEST(Decision, a_hang_is_kept_until_its_state_is_saved) {
  const auto f = finding(model::VerdictKind::kHang, model::Owner::kStorage);
  EXPECT_EQ(decision_reason(f, Restart::kAfterEvidence),
            "a restart destroys the state that proves it: take stacks and dumps first; it can happen again until the "
            "storage answers");
  const auto crash = finding(model::VerdictKind::kCrash, model::Owner::kUserCode);
  EXPECT_EQ(decision_reason(crash, Restart::kAfterEvidence),
            "keep this evidence; it can happen again until the code or its settings are changed");
}

TEST(Decision, a_fault_of_a_device_is_left_behind) {
  auto f = finding(model::VerdictKind::kNodeFault, model::Owner::kVendor);
  f.severity = model::Severity::kReplace;
  EXPECT_EQ(decision_reason(f, Restart::kNow), "the fault stays with the device: restart without it");
  f.exclude_nodes = {"gn7"};
  EXPECT_EQ(decision_reason(f, Restart::kNow), "the fault stays on the node: restart without gn7");
}

TEST(Decision, says_when_it_is_not_decided_and_nothing_when_there_is_nothing_to_decide) {
  auto f = finding(model::VerdictKind::kHang, model::Owner::kUnknown);
  f.certainty = model::Certainty::kInconclusive;
  f.needs = {"a stack"};
  EXPECT_EQ(decision_reason(f, Restart::kUnknown), "the cause is not decided; see what would decide it");
  f.aside = true;
  EXPECT_EQ(decision_reason(f, Restart::kUnknown), "");
  EXPECT_EQ(decision_reason(finding(model::VerdictKind::kNone, model::Owner::kUnknown), Restart::kNo), "");
}

}  // namespace
}  // namespace holter::diagnose
