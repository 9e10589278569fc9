// SPDX-License-Identifier: Apache-2.0
// Readers of Flight Recorder dumps. FrDump::rank is the rank of the file name when there is one;
// infer_dump_ranks() (infer_ranks.h) finds the others when all files are read.
#pragma once

#include "formats/reader.h"

namespace holter::formats::flight_recorder {

class PickleReader final : public Reader {
 public:
  std::string_view name() const override { return "flight-recorder-pickle"; }
  int probe(const model::SourceFile& file, std::string_view head) const override;
  void read(ByteSource& source, FileContext context, model::Evidence& out) const override;
};

class JsonReader final : public Reader {
 public:
  std::string_view name() const override { return "flight-recorder-json"; }
  int probe(const model::SourceFile& file, std::string_view head) const override;
  void read(ByteSource& source, FileContext context, model::Evidence& out) const override;
};

}  // namespace holter::formats::flight_recorder
