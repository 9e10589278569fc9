// SPDX-License-Identifier: Apache-2.0
// JSON that is not a format of its own: configuration and state files become facts config.<dotted.key>;
// lists of objects and JSON lines become tables. JSON logs are left to the text reader.
#pragma once

#include "formats/reader.h"

namespace holter::formats::facts {

class JsonReader final : public Reader {
 public:
  std::string_view name() const override { return "json"; }
  int probe(const model::SourceFile& file, std::string_view head) const override;
  void read(ByteSource& source, FileContext context, model::Evidence& out) const override;
};

}  // namespace holter::formats::facts
