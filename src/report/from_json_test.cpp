// SPDX-License-Identifier: Apache-2.0
#include "report/from_json.h"

#include <gtest/gtest.h>

#include "report/report.h"
#include "report/sample_report.h"

namespace holter::report {
namespace {

TEST(FromJson, what_advice_needs_survives_the_way) {
  const auto before = testing::hang(16, 20);
  const auto json = to_json(before);
  EXPECT_TRUE(is_report_json(json));
  const auto after = from_json(json);
  ASSERT_TRUE(after.has_value()) << after.error().to_string();
  EXPECT_EQ(after->verdict.kind, before.verdict.kind);
  EXPECT_EQ(after->verdict.certainty, before.verdict.certainty);
  EXPECT_EQ(after->decision.restart, before.decision.restart);
  EXPECT_EQ(after->decision.exclude_nodes, before.decision.exclude_nodes);
  EXPECT_EQ(after->decision.resume_from, before.decision.resume_from);
  EXPECT_EQ(after->owner, before.owner);
  ASSERT_EQ(after->findings.size(), before.findings.size());
  EXPECT_EQ(after->findings[0].needs, before.findings[0].needs);
  ASSERT_EQ(after->findings[0].actions.size(), before.findings[0].actions.size());
  EXPECT_EQ(after->findings[0].actions[0].text, before.findings[0].actions[0].text);
}

TEST(FromJson, damage_and_strangers_are_errors) {
  const auto json = to_json(testing::hang(16, 20));
  EXPECT_FALSE(from_json(json.substr(0, json.size() / 2)).has_value());
  EXPECT_FALSE(from_json("{}").has_value());
  EXPECT_FALSE(from_json("[1]").has_value());
  EXPECT_FALSE(from_json(R"({"schema": "holter.report/2"})").has_value());
  EXPECT_TRUE(
      from_json(R"({"schema": "holter.report/1", "verdict": 3, "findings": [7, {}], "decision": []})").has_value());
}

}  // namespace
}  // namespace holter::report
