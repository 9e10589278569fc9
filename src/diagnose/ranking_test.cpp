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

// Two local reasons, each on a line of its own host, `apart_ns` from one another.
model::Report on_two_hosts(std::int64_t apart_ns, std::int64_t offset_ns = 0, std::uint32_t set = 0) {
  model::Evidence ev;
  ev.files = {{.path = "n1.log"}, {.path = "n2.log"}};
  ev.clocks.push_back({.host = 1, .node = ev.intern("n1"), .set = set});
  ev.clocks.push_back({.host = 2, .node = ev.intern("n2"), .offset_ns = offset_ns, .error_ns = 50'000'000, .set = set});
  std::vector<model::Finding> findings;
  for (const std::uint32_t i : {0U, 1U}) {
    model::Event e;
    e.at = {model::FileId{i}, model::PosKind::kLine, 1};
    e.time = {1'000'000'000'000 + (i == 0 ? 0 : apart_ns + offset_ns), model::TimeKind::kUnix, i + 1,
              i == 0 ? 0 : offset_ns};
    ev.events.push_back(e);
    auto f = finding(i == 0 ? "storage_not_shared" : "rank_crashed", i == 0 ? 0.7 : 0.75, Depth::kReason);
    f.local = true;
    f.first_ns = e.time.job_ns();
    f.evidence.front().at = e.at;
    findings.push_back(f);
  }
  const hang::Job job;
  model::Report report;
  rank({ev, formats::rules::builtin(), job}, {std::move(findings), {}, {}}, report);
  return report;
}

TEST(Ranking, earlier_counts_only_beyond_what_the_clocks_may_differ) {
  const auto told = on_two_hosts(5'000'000'000);
  EXPECT_EQ(told.findings[0].cause, "storage_not_shared");
  EXPECT_TRUE(told.evidence.gaps.empty());

  const auto open = on_two_hosts(400'000'000);
  EXPECT_EQ(open.findings[0].cause, "rank_crashed") << "the better supported one, since time does not decide";
  EXPECT_NE(open.findings[0].certainty, model::Certainty::kConfirmed);
  ASSERT_EQ(open.evidence.gaps.size(), 1U);
  EXPECT_NE(open.evidence.gaps[0].find("400 ms apart, and the clocks of n2 and n1"), std::string::npos);
  EXPECT_NE(open.findings[0].needs.at(0).find("which was first"), std::string::npos);

  EXPECT_EQ(on_two_hosts(400'000'000, 0, 1).findings[0].cause, "storage_not_shared") << "aligned to 50 ms";
}

TEST(Ranking, a_known_offset_is_taken_out_of_the_times) {
  EXPECT_EQ(on_two_hosts(5'000'000'000, -3'600'000'000'000, 1).findings[0].cause, "storage_not_shared");
  EXPECT_EQ(on_two_hosts(-5'000'000'000, 3'600'000'000'000, 1).findings[0].cause, "rank_crashed");
}

TEST(Ranking, what_is_beside_the_matter_is_never_the_root) {
  auto beside = finding("clock_wrong", 0.9, Depth::kReason);
  beside.aside = true;
  const auto r = ranked({beside, finding("host_stuck", 0.5, Depth::kMechanism, {2})});
  EXPECT_EQ(r.findings[0].cause, "host_stuck");
  EXPECT_EQ(r.findings[1].role, model::Role::kContributing);
  const auto alone = ranked({beside});
  EXPECT_EQ(alone.verdict.kind, model::VerdictKind::kUndetermined);
  EXPECT_EQ(alone.findings[0].role, model::Role::kContributing);
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
