// SPDX-License-Identifier: Apache-2.0
// A pickle machine that can build only data. It knows no classes and no modules: an opcode that would
// import, call or extend is a refusal, and what was read before it is kept.
#pragma once

#include <string>

#include "formats/flight_recorder/value_stack.h"
#include "formats/reader.h"

namespace holter::formats::flight_recorder {

struct ParseEnd {
  bool complete = false;   // the document ended where its format says
  bool truncated = false;  // the input ended first
  std::string problem;     // empty when complete
  std::uint64_t offset = 0;
};

// Runs until STOP, the end of the input or the first problem. Values are left on `stack`.
ParseEnd run_pickle(ByteSource& source, ValueStack& stack);

}  // namespace holter::formats::flight_recorder
