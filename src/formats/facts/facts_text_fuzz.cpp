// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/facts_parser.h"

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
  FactsParser parser;
  std::uint64_t number = 0;
  for (const auto body : base::split(input, '\n')) {
    text::Line line;
    line.raw = line.body = body;
    line.number = ++number;
    parser.on_line(line, context, ev);
  }
  parser.on_end(context, ev);
  return 0;
}
