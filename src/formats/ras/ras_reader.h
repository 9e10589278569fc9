// SPDX-License-Identifier: Apache-2.0
// Reader of NCCL RAS replies: text from 2.24, JSON from 2.28.7.
#pragma once

#include "formats/reader.h"

namespace holter::formats::ras {

class RasReader final : public Reader {
 public:
  std::string_view name() const override { return "nccl-ras"; }
  int probe(const model::SourceFile& file, std::string_view head) const override;
  void read(ByteSource& source, FileContext context, model::Evidence& out) const override;
};

}  // namespace holter::formats::ras
