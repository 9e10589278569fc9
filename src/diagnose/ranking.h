// SPDX-License-Identifier: Apache-2.0
// Findings of all diagnosers -> the ordered list of a report, the root first (DESIGN section 6, 7-8).
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

// Joins findings of equal cause and culprit, orders them, assigns roles, ids and certainty, and sets
// verdict, decision and owner from the root.
void rank(const Context& context, Output output, model::Report& report);

}  // namespace holter::diagnose
