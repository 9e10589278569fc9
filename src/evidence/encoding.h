// SPDX-License-Identifier: Apache-2.0
// Text in UTF-16 (Windows tools and PowerShell redirections write it) or behind a byte order mark, as
// UTF-8 that readers expect. Bounded memory: one chunk at a time.
#pragma once

#include <memory>
#include <string_view>

#include "evidence/stream.h"

namespace holter::evidence {

enum class Encoding { kBytes, kUtf8Mark, kUtf16Le, kUtf16Be };

// By a byte order mark, or without one when nearly every other byte of the start is zero and the rest
// is ASCII text. What only looks like a mark before binary data is kBytes.
Encoding detect_encoding(std::string_view head);

// `inner`, which must outlive the result, as UTF-8 without mark. What is no character becomes U+FFFD.
std::unique_ptr<Stream> as_utf8(Encoding encoding, Stream& inner);

}  // namespace holter::evidence
