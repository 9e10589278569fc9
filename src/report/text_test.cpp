// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "report/lines.h"
#include "report/report.h"
#include "report/sample_report.h"

namespace holter::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string_view> lines_of(const std::string& text) {
  auto lines = base::split(text, '\n');
  lines.pop_back();
  return lines;
}

void expect_one_screen(const std::string& text) {
  EXPECT_LE(lines_of(text).size(), 25u) << text;
  for (const auto line : lines_of(text)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST(Text, the_first_screen_is_the_answer) {
  const auto text = to_text(testing::hang(1024), {});
  expect_one_screen(text);
  EXPECT_THAT(text, AllOf(HasSubstr("HANG, likely"), HasSubstr("restart: after evidence"),
                          HasSubstr("rank 410 on gpu51, GPU 3")));
  EXPECT_THAT(text, AllOf(HasSubstr("nodes/gpu51.dmesg:4102"), HasSubstr("watchdog kills in 6:40"),
                          HasSubstr("$ holter collect --hosts gpu51")));
  EXPECT_THAT(text, Not(HasSubstr("0.83")));  // a confidence is printed with --full only
}

TEST(Text, the_first_screen_stays_one_screen_whatever_the_report_holds) {
  auto report = testing::hang(1024);
  report.verdict.summary = std::string(2000, 'x') + " and words that go on and on" + std::string(300, ' ') + "end";
  for (int i = 0; i < 50; ++i) {
    report.findings[0].evidence.push_back(report.findings[0].evidence[0]);
    report.findings[0].actions.push_back({std::string(500, 'y'), std::string(500, 'z'), model::Risk::kLow});
    report.decision.exclude_nodes.push_back("a-node-with-a-long-name-" + std::to_string(i));
  }
  expect_one_screen(to_text(report, {}));
  expect_one_screen(to_text(testing::poisoned("\xE6\xBC\xA2\xE5\xAD\x97\t\n\x1b[2J" + std::string(100, 'q')), {}));
  expect_one_screen(to_text(model::Report{}, {}));
}

TEST(Text, no_escape_reaches_the_terminal_without_colour) {
  for (const bool full : {false, true}) {
    const auto text = to_text(testing::poisoned("\x1b]0;x\x07\xC2\x9B\xE2\x80\xAEtxt.exe\r"), {.full = full});
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
    EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
    EXPECT_THAT(text, Not(HasSubstr("\xC2\x9B")));
  }
}

TEST(Text, colour_adds_nothing_but_escapes) {
  const auto report = testing::hang(16);
  std::string coloured = to_text(report, {.full = true, .colour = true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;31m"));
  for (auto at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, to_text(report, {.full = true}));
}

TEST(Text, full_holds_every_section_and_folds_ranks) {
  const auto text = to_text(testing::hang(1024), {.full = true});
  for (const auto* part : {"Findings", "confidence 0.83", "Ruled out", "nic_link_flap", "Who waits for whom",
                           "ranks 0,2-409,411-1022 wait for rank 410", "Merged stacks", "<-- fork", "Broken edges",
                           "Groups", "Timeline", "Gaps", "Problems", "Files", "core.bin: not read"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_LT(lines_of(text).size(), 120u);
  for (const auto line : lines_of(text)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST(Text, ascii_only_without_unicode) {
  for (const char c : to_text(testing::hang(16), {.full = true})) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Text, a_deep_or_broken_stack_tree_is_survived) {
  auto report = testing::hang(8);
  report.stacks.nodes.clear();
  for (std::uint32_t i = 0; i < 100'000; ++i) report.stacks.nodes.push_back({"f", {0}, 1, {i + 1, 0}});
  EXPECT_LT(lines_of(to_text(report, {.full = true})).size(), 600u);
}

TEST(Lines, wraps_by_display_width) {
  EXPECT_EQ(display_width("a\xE6\xBC\xA2"
                          "e\xCC\x81"),
            4u);
  EXPECT_THAT(wrap("one two three", 7, 5), ::testing::ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("abcdefgh", 3, 5), ::testing::ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrap("one two three four", 7, 1), ::testing::ElementsAre("one ..."));
  EXPECT_EQ(fit("a/long/path/file.log", 12, true), "a/l...le.log");
}

}  // namespace
}  // namespace holter::report
