// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/parsers.h"

// The first byte picks the reader and the size of the chunks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holter;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  model::Evidence out;
  out.files.push_back({.path = "rank2.worker3.json", .format = "", .version = ""});
  const auto reader = data[0] & 1 ? formats::stacks::make_pyspy_json_reader() : formats::stacks::make_folded_reader();
  (void)reader->probe(out.files[0], text);
  formats::MemorySource source(text, 1 + (data[0] >> 1));
  reader->read(source, {model::FileId{0}, &out.files[0]}, out);
  for (const auto& s : out.stacks) {
    if (s.frames.empty()) __builtin_trap();
  }
  return 0;
}
