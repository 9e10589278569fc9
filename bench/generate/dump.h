// SPDX-License-Identifier: Apache-2.0
// What one rank's Flight Recorder shows at a moment, as the bytes of a dump.
#pragma once

#include <string>

#include "job.h"

namespace holter::generate {

struct DumpOptions {
  bool json = false;
  bool only_active = false;
  bool timing = false;  // start events exist: "started" and duration_ms
  int entries = 200;    // ring size
  int frames = 0;       // per entry
  double at = 0;        // seconds since the start of the job
  std::int64_t epoch_ns = 1'760'000'000'000'000'000;
  int timeout_ms = 600'000;
};

std::string write_dump(const Job& job, std::int32_t rank, const DumpOptions& options);

}  // namespace holter::generate
