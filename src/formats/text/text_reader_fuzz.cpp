// SPDX-License-Identifier: Apache-2.0
// Line reader, unwrapping and times on any bytes, in chunks of a size that the first byte chooses.
#include <cstdint>

#include "formats/text/text_reader.h"

namespace {

using namespace holter;

class EveryLine final : public formats::text::LineParser {
 public:
  std::vector<std::string_view> triggers() const override { return {"error", "rank3"}; }
  bool wants_all() const override { return true; }
  void on_line(const formats::text::Line& line, formats::FileContext context, model::Evidence& out) override {
    if (out.events.size() < 1000) out.events.push_back(formats::text::event("line", line, context, out));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const formats::text::TextReader reader([] {
    std::vector<std::unique_ptr<formats::text::LineParser>> parsers;
    parsers.push_back(std::make_unique<EveryLine>());
    return parsers;
  });
  model::Evidence evidence;
  evidence.files.emplace_back();
  formats::MemorySource source({reinterpret_cast<const char*>(data) + 1, size - 1}, std::size_t{1} + data[0]);
  reader.read(source, {model::FileId{0}, &evidence.files[0]}, evidence);
  return 0;
}
