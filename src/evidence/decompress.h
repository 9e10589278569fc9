// SPDX-License-Identifier: Apache-2.0
// gzip (several members), xz and zstd (several frames) as streams with bounded memory. Zero padding
// after the last member is allowed, as tape and object-store tools leave it.
#pragma once

#include <memory>
#include <string_view>

#include "evidence/stream.h"

namespace holter::evidence {

enum class Compression { kNone, kGzip, kXz, kZstd };

// By the magic bytes at the start.
Compression detect_compression(std::string_view head);
const char* to_string(Compression compression);

// The content of `inner`, which must outlive the result. Expansion is judged against
// Limits::max_expansion once 64 MiB have come out.
std::unique_ptr<Stream> decompress(Compression compression, Stream& inner, const Limits& limits);

}  // namespace holter::evidence
