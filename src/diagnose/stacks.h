// SPDX-License-Identifier: Apache-2.0
// What the stacks of a job say: which ranks are elsewhere while the others wait, and why.
#pragma once

#include "diagnose/diagnoser.h"
#include "model/report.h"

namespace holter::diagnose {

// Adds findings; returns the merged forest for the report, with the fork where the ranks of the
// strongest of these findings leave the others.
model::StackForest diagnose_stacks(const Context& context, Output& out);

}  // namespace holter::diagnose
