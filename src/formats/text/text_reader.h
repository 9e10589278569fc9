// SPDX-License-Identifier: Apache-2.0
// Reads any text: one pass that finds the lines some parser cares for, unwraps them and hands them on.
//
// For every rank that speaks in the file (or for the file, when none is named) two events are added:
// "log.first" and "log.last", its first and last line with their times; who fell silent, and when, is
// read off them.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/reader.h"
#include "formats/text/line.h"
#include "formats/text/prefilter.h"

namespace holter::formats::text {

class TextReader final : public Reader {
 public:
  // At most 64 parsers. Their patterns are compiled when the first text is read: a folder may hold none.
  explicit TextReader(ParserFactory factory) : factory_(std::move(factory)) {}

  std::string_view name() const override { return "text"; }
  int probe(const model::SourceFile& file, std::string_view head) const override;
  void read(ByteSource& source, FileContext context, model::Evidence& out) const override;

 private:
  const Prefilter& prefilter() const;

  ParserFactory factory_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<Prefilter> prefilter_;  // bit i of a mask: parser i
};

}  // namespace holter::formats::text
