// SPDX-License-Identifier: Apache-2.0
// Watchdog, traceback, exit and progress parsers and the built-in signatures on any bytes.
#include <cstdint>

#include "formats/logs/exit_parser.h"
#include "formats/logs/progress_parser.h"
#include "formats/logs/signature_parser.h"
#include "formats/logs/traceback_parser.h"
#include "formats/logs/watchdog_parser.h"
#include "formats/rules/rules.h"
#include "formats/text/text_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holter;
  static const auto set = std::make_shared<const formats::logs::SignatureSet>(formats::rules::builtin());
  static const formats::text::TextReader reader([] {
    std::vector<std::unique_ptr<formats::text::LineParser>> parsers;
    parsers.push_back(formats::logs::make_exit_parser());
    parsers.push_back(formats::logs::make_progress_parser());
    parsers.push_back(formats::logs::make_signature_parser(set));
    parsers.push_back(formats::logs::make_traceback_parser());
    parsers.push_back(formats::logs::make_watchdog_parser());
    return parsers;
  });
  model::Evidence evidence;
  evidence.files.emplace_back();
  formats::MemorySource source({reinterpret_cast<const char*>(data), size});
  reader.read(source, {model::FileId{0}, &evidence.files[0]}, evidence);
  return 0;
}
