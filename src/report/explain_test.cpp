// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/rules/rules.h"
#include "report/explain.h"

namespace holter::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const model::Rules& rules() { return formats::rules::builtin(); }

TEST(Explain, numbers_by_any_spelling) {
  for (const auto* word : {"xid 79", "Xid:79", "XID79"}) {
    const auto found = explain(rules(), word);
    ASSERT_THAT(found, SizeIs(1)) << word;
    EXPECT_EQ(found[0].kind + found[0].id, "xid79");
    EXPECT_FALSE(found[0].title.empty());
  }
  EXPECT_THAT(explain(rules(), "sxid 10003"), SizeIs(1));
  EXPECT_THAT(explain(rules(), "xid 99999"), IsEmpty());
  EXPECT_THAT(explain(rules(), "nonsense79"), IsEmpty());
}

TEST(Explain, every_cause_and_signature) {
  for (const auto& c : rules().causes) EXPECT_THAT(explain(rules(), c.id), SizeIs(1)) << c.id;
  for (const auto& s : rules().signatures) EXPECT_THAT(explain(rules(), s.id), SizeIs(1)) << s.id;
}

TEST(Explain, suggests_what_was_meant) {
  EXPECT_THAT(suggestions(rules(), "stragler"), Contains("straggler"));
  EXPECT_THAT(suggestions(rules(), "shape_mismatch"), Contains("collective_shape_mismatch"));
  EXPECT_THAT(suggestions(rules(), "qqqqqqqqqq"), IsEmpty());
}

TEST(Explain, text_and_json) {
  const auto found = explain(rules(), "xid 79");
  EXPECT_THAT(explain_text(found, 80), HasSubstr("xid 79: "));
  EXPECT_THAT(explain_json(found), HasSubstr(R"({"schema":"holter.explain/1","found":[{"kind":"xid","id":"79")"));
}

}  // namespace
}  // namespace holter::report
