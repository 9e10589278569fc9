// SPDX-License-Identifier: Apache-2.0
// NCCL's own log (NCCL_DEBUG=WARN, INFO, TRACE) in NCCL 2.4 to 2.31; also RCCL, which prints the same.
#pragma once

#include <memory>

#include "formats/text/line.h"

namespace holter::formats::nccl {

std::unique_ptr<text::LineParser> make_parser();

}  // namespace holter::formats::nccl
