// SPDX-License-Identifier: Apache-2.0
// Tables in text: CSV, TSV, ';' or '|' separated, blank-aligned, with a header line (also "# gpu pwr
// gtemp" of nvidia-smi dmon and "name [unit]" of nvidia-smi --query-gpu). Several tables may follow
// each other, separated by an empty line.
#pragma once

#include "formats/reader.h"

namespace holter::formats::facts {

class TableReader final : public Reader {
 public:
  std::string_view name() const override { return "table"; }
  int probe(const model::SourceFile& file, std::string_view head) const override;
  void read(ByteSource& source, FileContext context, model::Evidence& out) const override;
};

}  // namespace holter::formats::facts
