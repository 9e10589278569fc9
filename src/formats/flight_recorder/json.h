// SPDX-License-Identifier: Apache-2.0
// JSON into a ValueStack, streamed; iterative, so that nesting cannot exhaust the call stack.
#pragma once

#include <string_view>

#include "formats/flight_recorder/pickle.h"

namespace holter::formats::flight_recorder {

// Reads one document, pretty or on one line. Ends like run_pickle().
ParseEnd run_json(ByteSource& source, ValueStack& stack);

}  // namespace holter::formats::flight_recorder
