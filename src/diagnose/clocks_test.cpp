// SPDX-License-Identifier: Apache-2.0
#include "diagnose/clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/rules/rules.h"

namespace holter::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

// Hosts whose dumps were aligned, with these offsets; each cites a record of its own dump.
Output diagnosed(const std::vector<std::int64_t>& offsets, std::int64_t error_ns = 50'000'000) {
  model::Evidence ev;
  for (std::uint32_t i = 0; i < offsets.size(); ++i) {
    ev.files.push_back({.path = "dump_" + std::to_string(i)});
    model::FrDump d;
    d.file = model::FileId{i};
    d.rank = model::GlobalRank{static_cast<std::int32_t>(i)};
    d.first_entry = i;
    d.entry_count = 1;
    ev.dumps.push_back(d);
    ev.entries.push_back({.collective_seq = 7, .op = ev.intern("all_reduce")});
    model::Clock c{.host = i + 1, .node = ev.intern("n" + std::to_string(i)), .offset_ns = offsets[i]};
    c.error_ns = error_ns, c.shared = 20, c.set = 1;
    c.example = {model::FileId{i}, model::PosKind::kRecord, 0};
    c.other = i == 0 ? 2 : 1;
    c.other_example = {model::FileId{c.other - 1}, model::PosKind::kRecord, 0};
    ev.clocks.push_back(c);
  }
  const auto rules = formats::rules::builtin();
  const hang::Job job;
  Output out;
  diagnose_clocks({ev, rules, job}, out);
  return out;
}

TEST(DiagnoseClocks, right_clocks_are_no_finding) {
  EXPECT_THAT(diagnosed({0, 4 * kSecond, -kSecond}).findings, SizeIs(0));
}

TEST(DiagnoseClocks, one_that_differs_from_most_is_named_with_its_offset) {
  const auto out = diagnosed({0, 125 * kSecond, 0});
  ASSERT_THAT(out.findings, SizeIs(1));
  const auto& f = out.findings[0];
  EXPECT_EQ(f.cause, "clock_wrong");
  EXPECT_TRUE(f.aside);
  EXPECT_THAT(f.title, HasSubstr("the clock of n1 is 125.0 s ahead of the other hosts: 20 events"));
  ASSERT_THAT(f.culprits, SizeIs(1));
  EXPECT_EQ(f.culprits[0].node, "n1");
  ASSERT_THAT(f.evidence, SizeIs(2));
  EXPECT_EQ(f.evidence[0].source, "dump_1");
  EXPECT_THAT(f.evidence[0].text, HasSubstr("rank 1: all_reduce #7"));
  EXPECT_THAT(out.gaps, SizeIs(1));
}

TEST(DiagnoseClocks, of_two_none_is_called_the_wrong_one) {
  const auto out = diagnosed({0, -7'200 * kSecond});
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_THAT(out.findings[0].title, HasSubstr("differ by 2:00:00, nothing says which is right"));
  EXPECT_THAT(out.findings[0].title, HasSubstr("local time"));
  EXPECT_THAT(out.findings[0].culprits, SizeIs(2));
}

TEST(DiagnoseClocks, an_offset_within_its_error_is_none) {
  EXPECT_THAT(diagnosed({0, 30 * kSecond, 0}, 60 * kSecond).findings, SizeIs(0));
}

}  // namespace
}  // namespace holter::diagnose
