// SPDX-License-Identifier: Apache-2.0
// Jobs that stop while communicators are created, and ranks that vanish from a running one, from
// NCCL's own logs.
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

void diagnose_init(const Context& context, Output& output);
void diagnose_lost_peer(const Context& context, Output& output);

}  // namespace holter::diagnose
