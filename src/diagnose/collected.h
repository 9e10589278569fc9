// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diagnose/diagnoser.h"

namespace holter::diagnose {

// Gaps from the manifests of `holter collect`. Adds no finding.
void diagnose_collected(const Context& context, Output& out);

}  // namespace holter::diagnose
