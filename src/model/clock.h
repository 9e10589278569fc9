// SPDX-License-Identifier: Apache-2.0
// The clocks that stamped the evidence, aligned to one timeline (evidence/clocks.h estimates them).
#pragma once

#include <cstdint>

#include "model/ids.h"
#include "model/source.h"

namespace holter::model {

// How far the clocks of two hosts may differ when nothing shows it. Hosts that keep time with NTP over
// a local network agree to about a millisecond, chronyd and systemd-timesyncd over the internet to tens
// of milliseconds; a second also covers the many log formats that print whole seconds.
inline constexpr std::int64_t kUnalignedNs = 1'000'000'000;
// A clock that is off by more than this is worth a finding: Kerberos, TLS and object stores begin to
// refuse at minutes, people are misled at seconds.
inline constexpr std::int64_t kWrongClockNs = 5'000'000'000;

// One source of times: the clock of a host as one file prints it, or as dumps of that host record it.
// Clocks are numbered from 1; 0 is a time that nothing is known of.
struct Clock {
  std::uint32_t host = 0;               // equal: one host, or presumably one because evidence names no second
  StrId node = StrId::kEmpty;           // its name when known
  GlobalRank rank = GlobalRank::kNone;  // of a host that only a rank identifies
  FileId file = FileId::kNone;          // of printed times; kNone: Flight Recorder dumps, which hold Unix time
  std::int64_t offset_ns = 0;           // subtract it to get the time of the job
  std::int64_t error_ns = 0;            // half width
  std::uint32_t shared = 0;             // events that others saw too and that the offset is from; 0: not measured
  std::uint32_t set = 0;                // clocks measured against each other; 0: none
  std::int64_t zone_ns = 0;             // whole quarter hours in the offset, when it is nothing else
  // One event as this clock and as another one recorded it.
  SourceRef example, other_example;
  std::int64_t example_ns = 0, other_ns = 0;
  std::uint32_t other = 0;
};

// A recorded time on the timeline of the job. Times of dumps are whatever the dump says: no overflow.
inline std::int64_t without_offset(std::int64_t ns, std::int64_t offset_ns) {
  std::int64_t out = 0;
  return __builtin_sub_overflow(ns, offset_ns, &out) ? ns : out;
}

// A difference of corrected times that is not larger says nothing of the order.
inline std::int64_t uncertainty_ns(const Clock& a, const Clock& b) {
  if (&a == &b || a.host == 0 || b.host == 0) return 0;
  if (a.host == b.host && a.offset_ns == b.offset_ns) return 0;
  const bool together = a.host == b.host || (a.set != 0 && a.set == b.set);
  return (together ? 0 : kUnalignedNs) + a.error_ns + b.error_ns;
}

}  // namespace holter::model
