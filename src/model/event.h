// SPDX-License-Identifier: Apache-2.0
// One recognised line (or block of lines) of a log: who said what, when, and where it stands.
//
// `kind` is a signature id of rules/signatures or the name of a structured parser ("xid",
// "watchdog.timeout", "traceback", "nccl.warn"). Fields carry what was extracted; their names are
// listed in docs/reference/events.md.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "model/clock.h"
#include "model/ids.h"
#include "model/source.h"

namespace holter::model {

enum class TimeKind : std::uint8_t {
  kNone,
  kUnix,       // complete: date and zone (or a zone assumed as UTC)
  kNoYear,     // month and day and time of day; the year is that of the other evidence
  kTimeOfDay,  // clock time only
  kMonotonic,  // seconds since boot
};

struct Timestamp {
  std::int64_t ns = 0;  // kUnix, kNoYear: Unix ns (year filled in); kTimeOfDay: ns of the day; kMonotonic
  TimeKind kind = TimeKind::kNone;
  std::uint32_t clock = 0;     // index into Evidence::clocks; 0: nothing is known of it
  std::int64_t offset_ns = 0;  // of that clock
  bool zoned = false;          // the text states its zone; else UTC is a guess
  std::int64_t job_ns() const { return without_offset(ns, offset_ns); }  // only if comparable()
  bool comparable() const { return kind == TimeKind::kUnix || kind == TimeKind::kNoYear; }
};

struct Event {
  StrId kind = StrId::kEmpty;
  SourceRef at;
  std::uint32_t line_count = 1;
  Timestamp time;
  GlobalRank rank = GlobalRank::kNone;
  StrId node = StrId::kEmpty;
  StrId gpu = StrId::kEmpty;  // PCI address "0000:c4:00" or index "5"
  std::int32_t pid = -1;
  std::int32_t attempt = -1;
  StrId text = StrId::kEmpty;  // verbatim first line, without wrapping, bounded
  std::vector<std::pair<StrId, StrId>> fields;
  std::uint32_t repeats = 1;  // the log itself says it was repeated, or we folded equal lines
};

// What one rank's watchdog said of one group (facts: ProcessGroupNCCL log lines of all eras).
// Lines of one rank and group are separate records; hang/ joins them.
struct WatchdogRecord {
  SourceRef at;
  Timestamp time;
  GlobalRank rank = GlobalRank::kNone;
  GroupRank group_rank = GroupRank::kNone;
  std::int32_t pg_id = -1;
  StrId pg_guid = StrId::kEmpty;
  StrId pg_desc = StrId::kEmpty;
  StrId node = StrId::kEmpty;
  std::int64_t seq = -1;
  StrId op = StrId::kEmpty;  // as printed: "ALLREDUCE", "_ALLGATHER_BASE"
  std::int64_t numel_in = -1;
  std::int64_t numel_out = -1;
  StrId shape = StrId::kEmpty;  // "TensorShape=[..]" of the 1.x era
  std::int64_t timeout_ms = -1;
  std::int64_t ran_ms = -1;
  std::int64_t last_enqueued = -1;
  std::int64_t last_completed = -1;
  std::uint32_t repeats = 1;
  StrId text = StrId::kEmpty;
};

}  // namespace holter::model
