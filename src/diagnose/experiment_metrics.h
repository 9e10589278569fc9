// SPDX-License-Identifier: Apache-2.0
// Runs whose outcome is a number: "sdpa: loss 2.31" beside "flash: loss 2.61".
#pragma once

#include <vector>

#include "diagnose/evidence_view.h"

namespace holter::diagnose {

// Compares runs that report the same metric (rules/outcomes.csv, "lower" or "higher" is better, the name and the
// number captured) and returns those that are clearly good or bad: near the best or the worst value, which lie at
// least 5 % apart. The others are dropped.
std::vector<Experiment> judge_by_metric(const model::Rules& rules, std::vector<Experiment> runs);

}  // namespace holter::diagnose
