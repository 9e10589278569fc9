// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report.h"
#include "report/sample_report.h"

namespace holter::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Markdown, holds_the_answer_and_its_evidence) {
  EXPECT_THAT(to_markdown(testing::hang(64)),
              AllOf(HasSubstr("## HANG, likely"), HasSubstr("| Culprit | rank 26 on gpu3, GPU 3, node gpu3 |"),
                    HasSubstr("- E2 `nodes/gpu3.dmesg:4102`"), HasSubstr("`holter collect --hosts gpu3 --only nfs`"),
                    HasSubstr("### Ruled out"), HasSubstr("3 files given, 1 not read")));
}

TEST(Markdown, outside_text_makes_no_markup) {
  const auto text = to_markdown(testing::poisoned("\n# h\n<script>x</script> [a](javascript:b) @team"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\n# h")), HasSubstr("&lt;script&gt;"), HasSubstr("\\[a\\]\\(")));
  // A mention may stand in a code span only.
  std::string prose;
  bool code = false;
  for (const char c : text) {
    if (c == '`') code = !code;
    else if (!code) prose += c;
  }
  EXPECT_THAT(prose, AllOf(Not(HasSubstr("@")), Not(HasSubstr("<script"))));
}

}  // namespace
}  // namespace holter::report
