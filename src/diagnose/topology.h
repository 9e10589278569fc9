// SPDX-License-Identifier: Apache-2.0
// Fills Report::topology: restored rings and trees, with the edges marked that errors point at.
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

void add_topology(const Context& context, model::Report& report);

}  // namespace holter::diagnose
