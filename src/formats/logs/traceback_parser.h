// SPDX-License-Identifier: Apache-2.0
// Python tracebacks -> events "traceback", one for a whole chain.
//
// Fields: exception, message (of the last of the chain); cause_exception, cause_message (of the
// first, when there are several); file, line, function of the innermost frame outside installed
// packages (else of the innermost); inner_file, inner_function; frames (how many). Tracebacks of
// several ranks or processes may interleave when their lines are told apart by a prefix.
#pragma once

#include <memory>

#include "formats/text/line.h"

namespace holter::formats::logs {

std::unique_ptr<text::LineParser> make_traceback_parser();

}  // namespace holter::formats::logs
