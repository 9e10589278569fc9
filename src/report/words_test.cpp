// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "report/escape.h"
#include "report/words.h"

namespace holter::report {
namespace {

using model::Culprit;
using model::CulpritKind;

TEST(Words, times_and_spans) {
  EXPECT_EQ(time_text(1'772'333'467'000'000'000), "2026-03-01T02:51:07Z");
  EXPECT_EQ(time_text(1'772'333'467'250'000'000, true), "2026-03-01T02:51:07.250Z");
  EXPECT_EQ(time_text(1'772'333'467'000'000'001, true), "2026-03-01T02:51:07.000000001Z");
  EXPECT_EQ(time_text(951'782'400'000'000'000), "2000-02-29T00:00:00Z");
  EXPECT_EQ(time_text(-1), "1969-12-31T23:59:59Z");
  EXPECT_EQ(span_text(400), "6:40");
  EXPECT_EQ(span_text(3723), "1:02:03");
  EXPECT_EQ(span_text(183'600), "2 d 3:00:00");
}

TEST(Words, ranks_are_folded_and_bounded) {
  EXPECT_EQ(ranks_noun({3}), "rank 3");
  EXPECT_EQ(ranks_noun(model::RankSet::range(0, 412) | model::RankSet::range(414, 1023)), "ranks 0-412,414-1023");
  model::RankSet even;
  for (int i = 0; i < 100; i += 2) even.insert(i);
  EXPECT_EQ(ranks_text(even, 3), "0,2,4 and 47 more");
}

TEST(Words, culprits) {
  EXPECT_EQ(culprit_text({CulpritKind::kRank, 3, "gn7", "", "", ""}), "rank 3 on gn7");
  EXPECT_EQ(culprit_text({CulpritKind::kNode, std::nullopt, "gn7", "", "", ""}), "node gn7");
  EXPECT_EQ(culprit_text({CulpritKind::kGpu, std::nullopt, "gn7", "0000:c4:00", "", "GPU 0000:c4:00 on gn7"}),
            "GPU 0000:c4:00 on gn7");
  EXPECT_EQ(culprit_text({CulpritKind::kGpu, std::nullopt, "gn7", "0000:c4:00", "", ""}), "gpu on gn7 0000:c4:00");
  EXPECT_EQ(culprit_text({CulpritKind::kLink, std::nullopt, "gn7", "", "gn8", "mlx5_3 port 1"}),
            "link mlx5_3 port 1 on gn7 to gn8");
  EXPECT_EQ(culprits_text({{CulpritKind::kRank, 4, "", "", "", ""}, {CulpritKind::kRank, 5, "", "", "", ""}}),
            "ranks 4-5");
}

TEST(Escape, every_medium_has_its_own) {
  EXPECT_EQ(html("<b a='x'>\"&\n\x1b"), "&lt;b a=&#39;x&#39;&gt;&quot;&amp; \\x1b");
  EXPECT_EQ(html("  indented"), "  indented");
  EXPECT_EQ(script_json(R"({"a":"</script><!--&"})"), R"({"a":"\u003c/script\u003e\u003c!--\u0026"})");
  EXPECT_EQ(markdown("[x](http://a.b) @me *b* <i> www.c.d"),
            "\\[x\\]\\(http&#58;//a.b\\) &#64;me \\*b\\* &lt;i&gt; www&#46;c.d");
  EXPECT_EQ(markdown_code("a `b` ``c``"), "``` a `b` ``c`` ```");
  EXPECT_EQ(markdown_code("a|b"), "`a\\|b`");
  EXPECT_EQ(valid_utf8("a\xff\xed\xa0\x80z"), "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace holter::report
