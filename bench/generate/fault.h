// SPDX-License-Identifier: Apache-2.0
// One fault per job, put into a program or a device before the job is played.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job.h"

namespace holter::generate {

struct Truth {
  std::string kind;                    // of faults()
  std::string cause;                   // id of causes.csv
  std::string where;                   // host, device, mismatch, cycle, stall, none
  std::vector<std::int32_t> culprits;  // global ranks; empty: nobody
  std::vector<std::int32_t> crashed;   // ranks that leave no dump
};

// Names of all fault kinds, "healthy" first.
const std::vector<std::string>& faults();

// Nothing when the job has no place for this fault (too few groups or ranks).
std::optional<Truth> put_fault(Job& job, const std::string& kind, Rng& rng);

}  // namespace holter::generate
