// SPDX-License-Identifier: Apache-2.0
// A bounded input as one string, for readers of small files.
#pragma once

#include <string>

#include "formats/reader.h"

namespace holter::formats::facts {

constexpr std::size_t kMaxWholeText = std::size_t{64} << 20;

// At most `limit` bytes; what follows is dropped, counted as a problem and makes the file partial.
std::string whole_text(ByteSource& source, FileContext context, model::Evidence& out,
                       std::size_t limit = kMaxWholeText);

}  // namespace holter::formats::facts
