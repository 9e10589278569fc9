// SPDX-License-Identifier: Apache-2.0
// The readers of all formats, in one list. Add a format by writing a Reader and one line here.
#pragma once

#include <memory>
#include <vector>

#include "formats/reader.h"
#include "model/rules.h"

namespace holter::evidence {

// The last one is the text reader, which takes any text. Readers are stateless and thread-safe.
std::vector<std::unique_ptr<formats::Reader>> make_readers(const model::Rules& rules);

}  // namespace holter::evidence
