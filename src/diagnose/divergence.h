// SPDX-License-Identifier: Apache-2.0
// A divergence of calls in words: which cause of group A it is, by the calls around it and the code
// that made them.
#pragma once

#include "diagnose/diagnoser.h"
#include "hang/match.h"

namespace holter::diagnose {

model::Finding explain_divergence(const Context& context, const hang::CallState& calls,
                                  const hang::Divergence& divergence);

}  // namespace holter::diagnose
