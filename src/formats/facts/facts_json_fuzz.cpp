// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/json_reader.h"

#include <cstddef>
#include <cstdint>

#include "base/strings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holter;
  using namespace holter::formats;
  using namespace holter::formats::facts;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  model::Evidence ev;
  ev.files.resize(1);
  const FileContext context{model::FileId{0}, &ev.files[0]};
  const JsonReader reader;
  static_cast<void>(reader.probe(ev.files[0], input.substr(0, 65536)));
  MemorySource source(input, 13);
  reader.read(source, context, ev);
  return 0;
}
