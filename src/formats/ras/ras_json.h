// SPDX-License-Identifier: Apache-2.0
// One JSON reply of RAS.
#pragma once

#include <string>

#include "formats/ras/line_source.h"
#include "model/evidence.h"

namespace holter::formats::ras {

// Reads the document that starts at the next character. `reply` holds what was understood, also when
// the result is an error text (empty when the document was whole). `is_reply` tells whether it was the
// state of a job at all.
std::string read_json_reply(LineSource& in, model::Evidence& out, model::RasReply& reply, bool& is_reply);

}  // namespace holter::formats::ras
