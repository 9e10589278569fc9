// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/ras_reader.h"

using namespace holter;

// The first byte chooses the chunk size. The corpus of this target holds text replies.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  model::Evidence ev;
  ev.files.push_back({});
  formats::MemorySource source(input, data[0] ? data[0] : 65536);
  const formats::ras::RasReader reader;
  reader.probe(ev.files[0], input);
  reader.read(source, {model::FileId{0}, &ev.files[0]}, ev);
  return 0;
}
