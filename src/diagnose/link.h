// SPDX-License-Identifier: Apache-2.0
// Ports of network cards that went down or count errors. The host that logs the port event is the
// culprit; hosts that log completion errors towards it are its victims.
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

void diagnose_link(const Context& context, Output& output);

}  // namespace holter::diagnose
