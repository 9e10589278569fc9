// SPDX-License-Identifier: Apache-2.0
#include "formats/rules/rules.h"

#include "base/result_matchers.h"

namespace holter::formats::rules {
namespace {

using base::Code;
using base::testing::Fails;
using base::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Rules, built_in_files_parse) {
  EXPECT_THAT(parse(builtin_files()), IsOk());
  EXPECT_NE(builtin().cause("host_oom_kill"), nullptr);
  EXPECT_EQ(builtin().tables.at("xid/xid.csv").rows.size(), 176u);
}

TEST(Rules, csv_quotes) {
  auto table = parse_csv("a,b\n\"x, \"\"y\"\"\nz\",2\r\n");
  ASSERT_THAT(table, IsOk());
  EXPECT_THAT(table->rows[0], ElementsAre("x, \"y\"\nz", "2"));
  EXPECT_THAT(parse_csv("a,b\n1\n"), Fails(Code::kInvalid, HasSubstr("row 2")));
}

TEST(Rules, a_bad_signature_is_named) {
  FileMap files{{"causes.csv", "id,group,title,typical_first_symptom\nx,A,t,s\n"},
                {"signatures/s.toml", "[[signature]]\nid='a'\npattern='p'\nmeaning='m'\ncauses={y=1.0}\n"}};
  EXPECT_THAT(parse(files), Fails(Code::kInvalid, HasSubstr("unknown cause 'y'")));
  files["signatures/s.toml"] = "[[signature]]\nid='a'\npatern='p'\n";
  EXPECT_THAT(parse(files), Fails(Code::kInvalid, HasSubstr("unknown key 'patern'")));
  files["signatures/s.toml"] = "[[signature\n";
  EXPECT_THAT(parse(files), Fails(Code::kInvalid, HasSubstr("signatures/s.toml:1")));
}

}  // namespace
}  // namespace holter::formats::rules
