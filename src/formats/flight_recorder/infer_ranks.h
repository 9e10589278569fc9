// SPDX-License-Identifier: Apache-2.0
// Whose dump is it? For dumps whose file name does not say.
#pragma once

#include "model/evidence.h"

namespace holter::formats::flight_recorder {

// Fills FrDump::rank where it is unknown and the content decides:
// 1. "send 2->5" and "recv 2<-5" name the own rank in their group first;
// 2. a rank belongs to all groups it used: the intersection of their rank lists;
// 3. a rank has one dump: what is left when the others are placed.
// A rank known from the file name is replaced only when (1) contradicts it, and a Problem says so.
// Returns how many ranks were filled in.
std::size_t infer_dump_ranks(model::Evidence& evidence);

}  // namespace holter::formats::flight_recorder
