// SPDX-License-Identifier: Apache-2.0
#include "report/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holter::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

model::Report report(model::Restart restart, std::vector<std::string> exclude = {}) {
  model::Report r;
  r.verdict = {model::VerdictKind::kHang, model::Certainty::kConfirmed, "rank 3 is stuck"};
  r.decision.restart = restart;
  r.decision.exclude_nodes = std::move(exclude);
  r.decision.why = "because";
  model::Finding f;
  f.needs = {"a stack of rank 3"};
  f.actions = {{"Look at the mount", "findmnt", model::Risk::kLow}};
  r.findings = {f};
  return r;
}

std::string lines_for_a_shell(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    if (text[at] != '#') out += text.substr(at, end - at + 1);
    at = end + 1;
  }
  return out;
}

TEST(Advice, a_requeue_that_keeps_the_node_out) {
  const auto text = to_text(advise(report(model::Restart::kNow, {"gn7", "gn9"})), AdviceFormat::kSlurm, "88123");
  EXPECT_EQ(lines_for_a_shell(text), "scontrol update JobId=88123 ExcNodeList=gn7,gn9\nscontrol requeue 88123\n");
}

TEST(Advice, no_command_when_a_restart_would_fail_again) {
  for (const auto restart : {model::Restart::kNo, model::Restart::kUnknown}) {
    for (const auto format : {AdviceFormat::kSlurm, AdviceFormat::kKubernetes})
      EXPECT_EQ(lines_for_a_shell(to_text(advise(report(restart, {"gn7"})), format, "1")), "");
  }
}

TEST(Advice, evidence_comes_first_where_a_restart_destroys_it) {
  const auto a = advise(report(model::Restart::kAfterEvidence));
  EXPECT_EQ(a.course, Course::kRestart);
  EXPECT_TRUE(a.evidence_first);
  EXPECT_THAT(to_text(a, AdviceFormat::kSlurm, "1"), HasSubstr("# keep first: a stack of rank 3"));
  EXPECT_THAT(to_text(a, AdviceFormat::kText, ""), HasSubstr("restart, after the evidence is saved"));
}

TEST(Advice, names_of_the_evidence_never_reach_a_shell) {
  auto r = report(model::Restart::kNow, {"gn7", "$(touch x)", "a b", "-f", "gn8\nreboot"});
  r.verdict.summary = "x\nscontrol shutdown";
  r.decision.why = "y\rrm -rf /";
  r.decision.resume_from = "'; rm -rf / #";
  r.findings[0].actions[0].text = "z\nreboot";
  const auto a = advise(r);
  EXPECT_EQ(a.exclude_nodes, std::vector<std::string>{"gn7"});
  EXPECT_EQ(lines_for_a_shell(to_text(a, AdviceFormat::kSlurm, "7")),
            "scontrol update JobId=7 ExcNodeList=gn7\nscontrol requeue 7\n");
  EXPECT_EQ(lines_for_a_shell(to_text(a, AdviceFormat::kTorchrun, "")),
            "HOLTER_RESTART=yes\nHOLTER_EVIDENCE_FIRST=no\nHOLTER_EXCLUDE_NODES='gn7'\nHOLTER_RESUME_FROM=''\n");
  EXPECT_THAT(lines_for_a_shell(to_text(a, AdviceFormat::kKubernetes, "")), Not(HasSubstr("touch")));
}

TEST(Advice, a_broken_device_whose_node_is_unknown_is_not_met_again) {
  auto r = report(model::Restart::kNow);
  r.findings[0].severity = model::Severity::kReplace;
  EXPECT_EQ(advise(r).course, Course::kUndecided);
  r.decision.exclude_nodes = {"gn7"};
  EXPECT_EQ(advise(r).course, Course::kRestart);
}

TEST(Advice, without_a_fault_nothing_is_restarted) {
  auto r = report(model::Restart::kUnknown);
  r.verdict = {model::VerdictKind::kNone, model::Certainty::kNoFault, "healthy"};
  EXPECT_EQ(advise(r).course, Course::kDoNotRestart);
  EXPECT_THAT(to_text(advise(r), AdviceFormat::kJson, ""), HasSubstr("\"restart\": \"no\""));
}

}  // namespace
}  // namespace holter::report
