// SPDX-License-Identifier: Apache-2.0
#include "formats/text/quotation.h"

#include <gtest/gtest.h>

namespace holter::formats::text {
namespace {

bool keeps(std::string_view line, std::string_view error = "CUDA out of memory") {
  EXPECT_NE(line.find(error), std::string_view::npos) << line;
  return without_quotations(line).find(error) != std::string::npos;
}

TEST(Quotation, what_a_sentence_quotes_is_left_out) {
  EXPECT_FALSE(keeps(R"(if you see "CUDA out of memory" lower the batch)"));
  EXPECT_FALSE(keeps(R"(grep -c "CUDA out of memory" run.log)"));
  EXPECT_FALSE(keeps("in dmesg, `CUDA out of memory` means"));
  EXPECT_FALSE(keeps("when `CUDA out of memory` is printed"));
  EXPECT_FALSE(keeps("the line \u201cCUDA out of memory\u201d means"));
  EXPECT_FALSE(keeps(R"(the allocator ("CUDA out of memory") is full)"));
  EXPECT_FALSE(keeps(R"("CUDA out of memory" means a batch that is too large)"));
  EXPECT_FALSE(keeps("# fails with CUDA out of memory"));
  EXPECT_FALSE(keeps("  // CUDA out of memory is retried"));
}

TEST(Quotation, values_are_kept) {
  EXPECT_TRUE(keeps("RuntimeError: CUDA out of memory"));
  EXPECT_TRUE(keeps(R"(level=error msg="CUDA out of memory")"));
  EXPECT_TRUE(keeps(R"({"level": "error", "message": "CUDA out of memory"})"));
  EXPECT_TRUE(keeps(R"("2026-05-01","gn7","CUDA out of memory")"));
  EXPECT_TRUE(keeps(R"(  "CUDA out of memory",)"));
  EXPECT_TRUE(keeps(R"(["first", "CUDA out of memory"])"));
  EXPECT_TRUE(keeps(R"(RuntimeError("CUDA out of memory"))"));
  EXPECT_TRUE(keeps(R"(worker said: "CUDA out of memory")"));
  EXPECT_TRUE(keeps(R"(File "/job/train.py", line 3: CUDA out of memory)"));
  EXPECT_TRUE(keeps(R"([rank0]:   File "/job/train.py", line 3, in f)", "/job/train.py"));
  EXPECT_TRUE(keeps(R"(loading "/data/a" failed: CUDA out of memory)"));
  EXPECT_TRUE(keeps(R"(an open " mark, CUDA out of memory)"));
  EXPECT_TRUE(keeps("#0 CUDA out of memory"));
}

TEST(Quotation, the_length_stays) {
  const std::string_view line = R"(see "a" and `b`)";
  EXPECT_EQ(without_quotations(line), R"(see " " and ` `)");
  EXPECT_EQ(without_quotations("\""), "\"");
  EXPECT_EQ(without_quotations(""), "");
}

}  // namespace
}  // namespace holter::formats::text
