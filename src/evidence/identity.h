// SPDX-License-Identifier: Apache-2.0
// Whose evidence is it, once everything has been read: ranks of dumps, of processes and of archive
// members, and hosts that only some files name. What contradicts itself becomes a Problem.
#pragma once

#include "model/evidence.h"

namespace holter::evidence {

// Fills ranks, nodes and attempts that are unknown and that other evidence decides; never replaces one.
// Deterministic: depends on the evidence alone.
void resolve_identity(model::Evidence& evidence);

}  // namespace holter::evidence
