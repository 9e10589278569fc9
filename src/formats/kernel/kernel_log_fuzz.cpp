// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/kernel/kernel_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parser = holter::formats::kernel::make_parser();
  holter::model::Evidence evidence;
  holter::formats::text::Line line;
  while (!text.empty()) {
    const auto end = text.find('\n');
    line.raw = line.body = text.substr(0, end);
    ++line.number;
    parser->on_line(line, {}, evidence);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  parser->on_end({}, evidence);
  return 0;
}
