// SPDX-License-Identifier: Apache-2.0
#include "formats/text/timestamps.h"

#include <gtest/gtest.h>

namespace holter::formats::text {
namespace {

using model::TimeKind;

constexpr std::int64_t kSecond = 1'000'000'000;
// 2026-05-18 07:31:02 UTC.
constexpr std::int64_t kMay = 1'779'089'462;

std::int64_t seconds(const std::optional<ParsedTime>& t) { return t ? t->time.ns / kSecond : -1; }

TEST(Timestamps, dates_of_all_loggers) {
  EXPECT_EQ(seconds(parse_time("2026-05-18 07:31:02,204 INFO", 0)), kMay);
  EXPECT_EQ(parse_time("2026-05-18 07:31:02,204 INFO", 0)->time.ns % kSecond, 204'000'000);
  EXPECT_EQ(seconds(parse_time("2026-05-18T07:31:02Z", 0)), kMay);
  EXPECT_EQ(seconds(parse_time("2026-05-18T09:31:02.5+02:00 x", 0)), kMay);
  EXPECT_EQ(seconds(parse_time("2026/05/18 07:31:02 x", 0)), kMay);
  EXPECT_EQ(seconds(parse_time("Mon May 18 07:31:02 2026", 0)), kMay);
  EXPECT_EQ(seconds(parse_time("Mon May 18 07:31:02 UTC 2026", 0)), kMay);
  EXPECT_EQ(parse_time("Mon May 18 07:31:02 2026] x", 0)->length, 24u);
  EXPECT_EQ(parse_time("2026-05-18 07:31:02", 0)->time.kind, TimeKind::kUnix);
}

TEST(Timestamps, without_a_year) {
  for (const char* text : {"May 18 07:31:02 host kernel:", "05-18 07:31:02 [core.py:1]", "05/18 07:31:02"}) {
    const auto t = parse_time(text, 2026);
    ASSERT_TRUE(t) << text;
    EXPECT_EQ(seconds(t), kMay) << text;
    EXPECT_EQ(t->time.kind, TimeKind::kNoYear) << text;
  }
  EXPECT_EQ(seconds(parse_glog_time("E0518 07:31:02.118 x", 2026)), kMay);
  EXPECT_EQ(seconds(parse_glog_time("W518 07:31:02.118 x", 2026)), kMay);
  EXPECT_FALSE(parse_glog_time("E51 07:31:02", 2026));
  EXPECT_FALSE(parse_glog_time("E1399 07:31:02.1", 2026));
}

TEST(Timestamps, clock_only) {
  const auto t = parse_time("13:11:17.25 x", 0);
  ASSERT_TRUE(t);
  EXPECT_EQ(t->time.kind, TimeKind::kTimeOfDay);
  EXPECT_EQ(t->time.ns, (13 * 3600 + 11 * 60 + 17) * kSecond + 250'000'000);
}

TEST(Timestamps, what_is_none) {
  for (const char* text : {"2026-13-18 07:31:02", "2026-02-30 07:31:02", "25:00:00 x", "12:34:56:78", "0000:c4:00.0",
                           "May 2026 was", "hello world", "2026-05-18", ""}) {
    EXPECT_FALSE(parse_time(text, 2026)) << text;
  }
}

TEST(Timestamps, heads_of_messages) {
  EXPECT_EQ(head_time("INFO 05-18 07:31:02 [core.py:77] x", 2026).ns, kMay * kSecond);
  EXPECT_EQ(head_time("[E518 07:31:02.000000000 ProcessGroupNCCL.cpp:1] x", 2026).ns, kMay * kSecond);
  EXPECT_EQ(head_time("[INFO|trainer.py:12] 2026-05-18 07:31:02,000 >> x", 0).ns, kMay * kSecond);
  EXPECT_EQ(head_time("no time here: 12 of 34", 2026).kind, TimeKind::kNone);
}

TEST(Timestamps, years_come_from_dated_evidence) {
  model::Evidence ev;
  model::Event dated, undated;
  dated.time = parse_time("2024-05-01 00:00:00", 0)->time;
  undated.time = parse_glog_time("E0301 12:00:00.5", 0)->time;
  ev.events = {dated, undated};
  align_years(ev);
  EXPECT_EQ(ev.events[1].time.ns, *unix_seconds(2024, 3, 1, 12, 0, 0) * kSecond + 500'000'000);
  EXPECT_EQ(year_of(ev.events[1].time.ns), 2024);
}

}  // namespace
}  // namespace holter::formats::text
