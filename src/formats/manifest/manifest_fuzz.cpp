// SPDX-License-Identifier: Apache-2.0
#include "formats/manifest/manifest_reader.h"

using namespace holter;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  model::Evidence ev;
  ev.files.push_back({});
  formats::MemorySource source(input, 4096);
  const formats::manifest::ManifestReader reader;
  reader.probe(ev.files[0], input);
  reader.read(source, {model::FileId{0}, &ev.files[0]}, ev);
  return 0;
}
