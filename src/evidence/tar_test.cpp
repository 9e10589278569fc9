// SPDX-License-Identifier: Apache-2.0
#include "evidence/tar.h"

#include <gmock/gmock.h>

#include "evidence/testing.h"

namespace holter::evidence {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

struct Read {
  std::vector<std::string> members;  // "name=content"
  std::string trouble;
};

Read read(std::string_view data, std::size_t chunk = 100) {
  TextStream inner(data, chunk);
  TarReader reader(inner);
  Read out;
  while (const auto member = reader.next()) {
    const auto kind = member->kind == TarMember::Kind::kFile     ? ""
                      : member->kind == TarMember::Kind::kSparse ? "sparse "
                      : member->kind == TarMember::Kind::kLink   ? "link "
                      : member->kind == TarMember::Kind::kFolder ? "folder "
                                                                 : "special ";
    const bool file = member->kind == TarMember::Kind::kFile;
    out.members.push_back(kind + member->name + (file ? "=" + read_all(reader.content()) : ""));
  }
  out.trouble = std::string(reader.trouble());
  return out;
}

TEST(Tar, members_of_all_kinds) {
  const auto data = tar_entry("d/", "", '5') + tar_entry("d/rank0.log", "hello") + tar_entry("empty", "") +
                    tar_entry("l", "", '2') + tar_entry("fifo", "", '6') +
                    tar_entry("name", "deep", '0', "", "pre/fix") + tar_end();
  for (const std::size_t chunk : {1, 512, 100000}) {
    const auto got = read(data, chunk);
    EXPECT_THAT(got.members,
                ElementsAre("folder d/", "d/rank0.log=hello", "empty=", "link l", "special fifo", "pre/fix/name=deep"));
    EXPECT_EQ(got.trouble, "");
  }
}

TEST(Tar, content_that_nobody_reads_is_skipped) {
  const auto data = tar_entry("a", std::string(5000, 'x')) + tar_entry("b", "y") + tar_end();
  TextStream inner(data);
  TarReader reader(inner);
  ASSERT_TRUE(reader.next());
  const auto second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name, "b");
  EXPECT_EQ(read_all(reader.content()), "y");
}

TEST(Tar, long_names_and_sizes_of_pax_and_gnu) {
  const std::string name(300, 'n');
  const std::string base256("\x80\0\0\0\0\0\0\0\0\0\0\x03", 12);
  const auto data = tar_entry("x", pax_record("path", name) + pax_record("mtime", "1700000000.5"), 'x') +
                    tar_entry("short", "1") + tar_entry("@LongLink", name + "2" + '\0', 'L') + tar_entry("short", "2") +
                    tar_entry("big", "abc", '0', base256) + tar_entry("x", pax_record("size", "4"), 'x') +
                    tar_entry("sized", "four", '0', "00000000000") + tar_end();
  const auto got = read(data);
  EXPECT_THAT(got.members, ElementsAre(name + "=1", name + "2=2", "big=abc", "sized=four"));
  EXPECT_EQ(got.trouble, "");
}

TEST(Tar, times) {
  const auto data = tar_entry("x", pax_record("mtime", "1700000000.5"), 'x') + tar_entry("a", "") + tar_entry("b", "");
  TextStream inner(data);
  TarReader reader(inner);
  EXPECT_EQ(reader.next()->modified_ns, 1'700'000'000'500'000'000);
  EXPECT_EQ(reader.next()->modified_ns, 015000000000 * std::int64_t{1'000'000'000});
}

TEST(Tar, sparse_members_are_recognised_and_passed_over) {
  const auto old_gnu = tar_entry("s", "data", 'S');
  const auto pax = tar_entry("x", pax_record("GNU.sparse.major", "1"), 'x') + tar_entry("p", "data");
  const auto got = read(old_gnu + pax + tar_entry("after", "ok") + tar_end());
  EXPECT_THAT(got.members, ElementsAre("sparse s", "sparse p", "after=ok"));
}

TEST(Tar, truncated_archives_keep_what_was_read) {
  const auto data = tar_entry("a", "first") + tar_entry("b", std::string(2000, 'x'));
  auto got = read(std::string_view(data).substr(0, data.size() - 1000));
  ASSERT_EQ(got.members.size(), 2u);
  EXPECT_EQ(got.members[0], "a=first");
  EXPECT_THAT(got.trouble, HasSubstr("ends early"));
  EXPECT_THAT(read(data.substr(0, 1300)).trouble, HasSubstr("ends early"));
  EXPECT_EQ(read(data).trouble, "") << "a missing end mark is common";
}

TEST(Tar, hostile_headers_end_the_archive) {
  auto bad = tar_entry("a", "x");
  bad[0] = 'b';
  EXPECT_FALSE(is_tar_header(bad));
  EXPECT_THAT(read(bad).trouble, HasSubstr("damaged tar header at offset 0"));
  const std::string negative("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
  const std::string huge("\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
  for (const auto& size : {negative, huge, std::string("99999999999\0", 12), std::string("-0000000001\0", 12)}) {
    EXPECT_THAT(read(tar_entry("a", "x", '0', size)).trouble, HasSubstr("damaged"));
  }
  EXPECT_THAT(read(tar_entry("x", "", 'x', "77777777777")).trouble, HasSubstr("too long"));
  for (const char* records : {"5", "99999 path=x\n", "0 a=b\n", "3 a\n", "-1 path=x\n", "18446744073709551615 p=x\n"}) {
    EXPECT_THAT(read(tar_entry("x", records, 'x') + tar_entry("kept", "1")).members, ElementsAre("kept=1")) << records;
  }
}

TEST(Tar, zero_bytes_are_no_header) {
  EXPECT_FALSE(is_tar_header(std::string(512, '\0')));
  EXPECT_FALSE(is_tar_header("short"));
  EXPECT_FALSE(is_tar_header(std::string(512, 'x')));
}

}  // namespace
}  // namespace holter::evidence
