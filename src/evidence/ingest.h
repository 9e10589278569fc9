// SPDX-License-Identifier: Apache-2.0
// One input -> model: opens compression and archives, picks the reader by content, keeps the books
// (status, problems, limits).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evidence/discover.h"
#include "evidence/name_hints.h"
#include "evidence/stream.h"
#include "formats/reader.h"
#include "model/evidence.h"

namespace holter::evidence {

using Readers = std::vector<std::unique_ptr<formats::Reader>>;

// Serves one thread.
class Ingest {
 public:
  Ingest(const Discovery& found, const Readers& readers, Budget& budget)
      : readers_(readers), budget_(budget), opener_(found) {}

  // Reads an input and everything inside it into `out`; adds at least one SourceFile.
  void read(const Input& input, const NameHint& hint, model::Evidence& out);

 private:
  struct Depth {
    int archives = 0;
    int compressions = 0;
  };

  void read_stream(model::SourceFile file, Stream& stream, Depth depth, model::Evidence& out);
  void read_content(model::FileId id, BoundedStream& input, Depth depth, model::Evidence& out);
  void read_compressed(model::FileId id, BoundedStream& input, Depth depth, model::Evidence& out);
  void read_tar(model::FileId id, BoundedStream& input, Depth depth, model::Evidence& out);
  model::SourceFile member_file(model::FileId archive, const std::string& name, model::Evidence& out);
  void read_format(model::FileId id, BoundedStream& input, model::Evidence& out);

  const Readers& readers_;
  Budget& budget_;
  Opener opener_;
  std::vector<char> buffer_;
};

}  // namespace holter::evidence
