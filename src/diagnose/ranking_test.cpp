// SPDX-License-Identifier: Apache-2.0
#include "diagnose/ranking.h"

#include <gtest/gtest.h>

#include "formats/rules/rules.h"

namespace holter::diagnose {
namespace {

using model::Depth;

model::Finding finding(std::string cause, double confidence, Depth depth, model::RankSet ranks = {}) {
  model::Finding f;
  f.cause = cause;
  f.title = cause + " title";
  f.confidence = confidence;
  f.depth = depth;
  f.kind = model::VerdictKind::kHang;
  f.ranks = ranks;
  for (const auto r : ranks.to_vector()) f.culprits.push_back({.kind = model::CulpritKind::kRank, .rank = r});
  f.evidence.push_back({"", {}, "a.log", cause, "says so"});
  return f;
}

model::Report ranked(std::vector<model::Finding> findings) {
  const model::Evidence evidence;
  const hang::Job job;
  model::Report report;
  rank({evidence, formats::rules::builtin(), job}, {std::move(findings), {}, {}}, report);
  return report;
}

TEST(Ranking, the_reason_explains_the_mechanism_of_the_same_rank) {
  const auto r = ranked(
      {finding("host_stuck", 0.75, Depth::kMechanism, {2}), finding("dataloader_deadlock", 0.6, Depth::kReason, {2})});
  EXPECT_EQ(r.findings[0].cause, "dataloader_deadlock");
  EXPECT_EQ(r.findings[0].role, model::Role::kRoot);
  EXPECT_EQ(r.findings[1].role, model::Role::kSecondary);
  EXPECT_GT(r.findings[0].confidence, 0.6) << "the calls support it";
  EXPECT_EQ(r.findings[0].explains, std::vector<std::string>{"F2"});
}

TEST(Ranking, a_stack_of_a_rank_that_waits_does_not_win) {
  const auto r = ranked(
      {finding("host_stuck", 0.75, Depth::kMechanism, {2}), finding("checkpoint_stall", 0.6, Depth::kReason, {0})});
  EXPECT_EQ(r.findings[0].cause, "host_stuck");
}

TEST(Ranking, the_earlier_local_reason_wins) {
  auto early = finding("storage_not_shared", 0.7, Depth::kReason);
  auto late = finding("rank_crashed", 0.7, Depth::kReason);
  early.local = late.local = true;
  early.first_ns = 1'000;
  late.first_ns = 2'000;
  EXPECT_EQ(ranked({late, early}).findings[0].cause, "storage_not_shared");
}

TEST(Ranking, a_claim_without_evidence_is_not_made) {
  auto f = finding("host_stuck", 0.9, Depth::kReason);
  f.evidence.clear();
  const auto r = ranked({f});
  EXPECT_TRUE(r.findings.empty());
  EXPECT_EQ(r.verdict.certainty, model::Certainty::kInconclusive);
}

TEST(Ranking, weak_evidence_is_a_lead_not_a_root) {
  const auto r = ranked({finding("host_stuck", 0.35, Depth::kMechanism, {3})});
  EXPECT_EQ(r.findings[0].role, model::Role::kContributing);
  EXPECT_EQ(r.verdict.certainty, model::Certainty::kInconclusive);
  EXPECT_EQ(r.decision.restart, model::Restart::kUnknown);
}

TEST(Ranking, no_fault_yields_to_a_fault) {
  auto benign = finding("no_fault", 0.8, Depth::kSymptom);
  benign.kind = model::VerdictKind::kNone;
  EXPECT_EQ(ranked({benign}).verdict.certainty, model::Certainty::kNoFault);
  EXPECT_EQ(ranked({benign, finding("host_stuck", 0.6, Depth::kMechanism, {1})}).findings[0].cause, "host_stuck");
}

TEST(Ranking, equal_claims_are_one_finding_with_all_evidence) {
  auto a = finding("host_stuck", 0.6, Depth::kMechanism, {1});
  auto b = finding("host_stuck", 0.5, Depth::kMechanism, {1});
  b.evidence[0].source = "b.log";
  b.evidence[0].text = "other";
  const auto r = ranked({a, b});
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].evidence.size(), 2u);
  EXPECT_GT(r.findings[0].confidence, 0.6);
}

}  // namespace
}  // namespace holter::diagnose
