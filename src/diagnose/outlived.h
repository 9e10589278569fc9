// SPDX-License-Identifier: Apache-2.0
// Events that the job outlived: a kernel log goes back to the boot, and what it tells of last night did not stop a job
// that made steps this morning.
#pragma once

#include <vector>

#include "diagnose/diagnoser.h"
#include "hang/calls.h"

namespace holter::diagnose {

// Sets a finding aside, with the progress as evidence against it, when its time is certain to lie more than 15 minutes
// before the last progress of the job (a completed collective, a step in a log), or before its processes were started
// (manifest of `holter collect`). Without a zone in both times, or
// clocks aligned by shared events, nothing is certain.
void set_outlived_aside(const Context& context, const hang::CallState& calls, std::vector<model::Finding>& findings);

// Sets findings aside whose evidence stands in logs that end well afterwards (rules/signatures/outcome.toml): the words
// of a rank only by its own end or by that of the whole job. Adds a finding of no fault when a run ended well. Slowness
// and wrong results can hold for a run that ended well and stay.
void set_survived_aside(const Context& context, Output& output);

}  // namespace holter::diagnose
