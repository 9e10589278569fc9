// SPDX-License-Identifier: Apache-2.0
#include "evidence/readers.h"

#include <mutex>

#include "formats/facts/facts_parser.h"
#include "formats/facts/json_reader.h"
#include "formats/facts/table_reader.h"
#include "formats/flight_recorder/reader.h"
#include "formats/kernel/kernel_log.h"
#include "formats/logs/exit_parser.h"
#include "formats/logs/progress_parser.h"
#include "formats/logs/signature_parser.h"
#include "formats/logs/traceback_parser.h"
#include "formats/logs/watchdog_parser.h"
#include "formats/manifest/manifest_reader.h"
#include "formats/nccl/nccl_log.h"
#include "formats/ras/ras_reader.h"
#include "formats/stacks/parsers.h"
#include "formats/text/text_reader.h"

namespace holter::evidence {

namespace {

using formats::logs::SignatureSet;
using formats::text::LineParser;

// Compiled when the first text is read: a folder may hold none.
class Signatures {
 public:
  explicit Signatures(const model::Rules& rules) : rules_(rules) {}
  std::shared_ptr<const SignatureSet> get() {
    std::call_once(made_, [this] { set_ = std::make_shared<const SignatureSet>(rules_); });
    return set_;
  }

 private:
  const model::Rules& rules_;
  std::once_flag made_;
  std::shared_ptr<const SignatureSet> set_;
};

// Fresh parsers for one text file.
std::vector<std::unique_ptr<LineParser>> make_line_parsers(Signatures& signatures) {
  std::vector<std::unique_ptr<LineParser>> parsers;
  parsers.push_back(formats::facts::make_facts_parser());
  parsers.push_back(formats::kernel::make_parser());
  parsers.push_back(formats::logs::make_exit_parser());
  parsers.push_back(formats::logs::make_progress_parser());
  parsers.push_back(formats::logs::make_signature_parser(signatures.get()));
  parsers.push_back(formats::logs::make_traceback_parser());
  parsers.push_back(formats::logs::make_watchdog_parser());
  parsers.push_back(formats::nccl::make_parser());
  parsers.push_back(formats::stacks::make_source_parser());
  parsers.push_back(formats::stacks::make_stack_parser());
  return parsers;
}

}  // namespace

std::vector<std::unique_ptr<formats::Reader>> make_readers(const model::Rules& rules) {
  std::vector<std::unique_ptr<formats::Reader>> readers;
  readers.push_back(std::make_unique<formats::facts::JsonReader>());
  readers.push_back(std::make_unique<formats::facts::TableReader>());
  readers.push_back(std::make_unique<formats::flight_recorder::JsonReader>());
  readers.push_back(std::make_unique<formats::flight_recorder::PickleReader>());
  readers.push_back(std::make_unique<formats::manifest::ManifestReader>());
  readers.push_back(std::make_unique<formats::ras::RasReader>());
  readers.push_back(formats::stacks::make_folded_reader());
  readers.push_back(formats::stacks::make_pyspy_json_reader());
  const auto signatures = std::make_shared<Signatures>(rules);
  readers.push_back(
      std::make_unique<formats::text::TextReader>([signatures] { return make_line_parsers(*signatures); }));
  return readers;
}

}  // namespace holter::evidence
