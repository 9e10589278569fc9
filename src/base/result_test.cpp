// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include "base/result_matchers.h"

namespace holter::base {
namespace {

using testing::Fails;
using ::testing::HasSubstr;
using testing::IsOkAnd;

Result<int> half(int n) {
  if (n % 2 != 0) return fail(Code::kInvalid, "odd");
  return n / 2;
}

Result<int> quarter(int n) {
  HOLTER_TRY(auto h, half(n));
  auto q = half(h);
  if (!q) return q.error().within("second half");
  return q;
}

TEST(Result, propagates_values_and_errors) {
  EXPECT_THAT(quarter(8), IsOkAnd(2));
  EXPECT_THAT(quarter(3), Fails(Code::kInvalid, HasSubstr("odd")));
}

TEST(Result, context_is_printed_outermost_first) {
  auto r = quarter(6);
  ASSERT_FALSE(r);
  Error outer = r.error().within("job").value();
  EXPECT_EQ(outer.to_string(), "job: second half: odd");
}

}  // namespace
}  // namespace holter::base
