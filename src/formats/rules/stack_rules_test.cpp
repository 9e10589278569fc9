// SPDX-License-Identifier: Apache-2.0
#include "formats/rules/stack_rules.h"

#include "base/result_matchers.h"
#include "formats/rules/rules.h"

namespace holter::formats::rules {
namespace {

using base::Code;
using base::testing::Fails;
using base::testing::IsOk;
using ::testing::HasSubstr;

TEST(StackRules, built_in_entries) {
  const auto& rules = builtin().stacks;
  EXPECT_GT(rules.entries.size(), 30u);
  EXPECT_FALSE(rules.helper_threads.empty());
  EXPECT_FALSE(rules.interpreter_frames.empty());
}

TEST(StackRules, errors_name_the_entry) {
  model::Rules out;
  const auto read = [&](std::string_view text) { return read_stack_rules("s.toml", text, out); };
  EXPECT_THAT(read("[[stack]]\nid='a'\nkind='phase'\npattern='p'\nmeaning='m'\n"), IsOk());
  EXPECT_THAT(read("[[stack]]\nid='a'\nkind='what'\npattern='p'\nmeaning='m'\n"),
              Fails(Code::kInvalid, HasSubstr("'a'")));
  EXPECT_THAT(read("[[stack]]\nid='a'\nkind='reason'\npattern='p'\nmeaning='m'\n"),
              Fails(Code::kInvalid, HasSubstr("cause")));
  EXPECT_THAT(read("[[stack]]\nid='a'\nxyz=1\n"), Fails(Code::kInvalid, HasSubstr("xyz")));
  EXPECT_THAT(read("[[stack"), Fails(Code::kInvalid, HasSubstr("s.toml:1")));
}

TEST(StackRules, an_unknown_cause_is_refused) {
  FileMap files{{"causes.csv", "id,group,title,typical_first_symptom\nx,A,t,s\n"},
                {"stacks.toml", "[[stack]]\nid='a'\nkind='reason'\npattern='p'\nmeaning='m'\ncause='y'\n"}};
  EXPECT_THAT(parse(files), Fails(Code::kInvalid, HasSubstr("'y'")));
}

}  // namespace
}  // namespace holter::formats::rules
