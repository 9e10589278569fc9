// SPDX-License-Identifier: Apache-2.0
// GoogleTest matchers for Result: EXPECT_THAT(r, IsOk()), EXPECT_THAT(r, IsOkAnd(3)),
// EXPECT_THAT(r, Fails(Code::kLimit, HasSubstr("depth"))).
#pragma once

#include <gmock/gmock.h>

#include "base/result.h"

namespace holter::base::testing {

MATCHER(IsOk, negation ? "is an error" : "holds a value") {
  if (arg.has_value()) return true;
  *result_listener << "error: " << arg.error().to_string();
  return false;
}

MATCHER_P(IsOkAnd, value, "holds a value that matches") {
  if (!arg.has_value()) {
    *result_listener << "error: " << arg.error().to_string();
    return false;
  }
  return ::testing::ExplainMatchResult(value, *arg, result_listener);
}

MATCHER_P2(Fails, code, message, "is an error with the code and message") {
  if (arg.has_value()) {
    *result_listener << "holds a value";
    return false;
  }
  return arg.error().code() == code && ::testing::ExplainMatchResult(message, arg.error().to_string(), result_listener);
}

}  // namespace holter::base::testing
