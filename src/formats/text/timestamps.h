// SPDX-License-Identifier: Apache-2.0
// Times at the head of log lines, in the forms that launchers, loggers, kernels and containers print.
//
// A time without a zone is taken as UTC; a time without a year gets kNoYear and the year given by the
// caller, or 1970 until align_years() knows better.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "model/evidence.h"

namespace holter::formats::text {

struct ParsedTime {
  model::Timestamp time;
  std::size_t length = 0;  // bytes it takes
};

// Unix seconds of a civil date and time in UTC; nothing when a field is out of range.
std::optional<std::int64_t> unix_seconds(int year, int month, int day, int hour, int minute, int second);
int year_of(std::int64_t unix_ns);

// A time that starts exactly at the first byte of `text`:
//   2026-05-21 18:02:11,204   2026-05-21T18:02:11.204+02:00   2026/05/21 18:02:11
//   Mon May 18 07:31:02 2026  Mon May 18 07:31:02 UTC 2026    May 18 07:31:02 [2026]
//   08-10 23:02:39            05/21 18:02:11                  13:11:17.250
std::optional<ParsedTime> parse_time(std::string_view text, int year);

// "E0709 09:21:05.118": severity letter, month and day (padded or not), time of day.
std::optional<ParsedTime> parse_glog_time(std::string_view text, int year);

// The time inside the head of a message, which stays part of the message:
//   "INFO 08-10 23:02:39 [core.py:77] ..."   "[E0522 03:14:01.36 ProcessGroupNCCL.cpp:632] ..."
//   "[INFO|trainer.py:12] 2026-05-01 00:00:00,000 >> ..."
model::Timestamp head_time(std::string_view body, int year);

// Gives times without a year the year of the dated evidence (or of the file when nothing is dated).
void align_years(model::Evidence& evidence);

}  // namespace holter::formats::text
