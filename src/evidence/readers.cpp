// SPDX-License-Identifier: Apache-2.0
#include "evidence/readers.h"

#include "formats/flight_recorder/reader.h"
#include "formats/kernel/kernel_log.h"
#include "formats/nccl/nccl_log.h"
#include "formats/stacks/parsers.h"
#include "formats/text/text_reader.h"

namespace holter::evidence {

namespace {

using formats::text::LineParser;

// Fresh parsers for one text file.
std::vector<std::unique_ptr<LineParser>> make_line_parsers(const model::Rules&) {
  std::vector<std::unique_ptr<LineParser>> parsers;
  parsers.push_back(formats::kernel::make_parser());
  parsers.push_back(formats::nccl::make_parser());
  parsers.push_back(formats::stacks::make_source_parser());
  parsers.push_back(formats::stacks::make_stack_parser());
  return parsers;
}

}  // namespace

std::vector<std::unique_ptr<formats::Reader>> make_readers(const model::Rules& rules) {
  std::vector<std::unique_ptr<formats::Reader>> readers;
  readers.push_back(std::make_unique<formats::flight_recorder::JsonReader>());
  readers.push_back(std::make_unique<formats::flight_recorder::PickleReader>());
  readers.push_back(formats::stacks::make_folded_reader());
  readers.push_back(formats::stacks::make_pyspy_json_reader());
  readers.push_back(std::make_unique<formats::text::TextReader>([&rules] { return make_line_parsers(rules); }));
  return readers;
}

}  // namespace holter::evidence
