// SPDX-License-Identifier: Apache-2.0
// What a reader of one byte format is. Readers do no I/O, start no threads and never throw on bad
// data: what they cannot read becomes a counted Problem and a gap.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "model/evidence.h"

namespace holter::formats {

// Bytes of one input in order, in chunks. Implemented by evidence/ (files, decompression, archives)
// and by tests. A chunk stays valid until the next call; an empty chunk is the end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::string_view next() = 0;
  // The data ended before the format of the container did (a truncated gzip).
  virtual bool truncated() const { return false; }
};

// A whole input in memory, for tests and fuzzing; `chunk` bytes a call.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view data, std::size_t chunk = 64 * 1024) : data_(data), chunk_(chunk) {}
  std::string_view next() override {
    const auto out = data_.substr(0, chunk_);
    data_.remove_prefix(out.size());
    return out;
  }

 private:
  std::string_view data_;
  std::size_t chunk_;
};

// Which file is being read. Its SourceFile is in Evidence::files of the same Evidence while reading.
struct FileContext {
  model::FileId id = model::FileId::kNone;
  model::SourceFile* file = nullptr;  // the reader sets version, counts, status kPartial
};

// A probe this sure is taken at its word: readers behind it are not asked.
inline constexpr int kCertain = 95;

class Reader {
 public:
  virtual ~Reader() = default;
  virtual std::string_view name() const = 0;  // "flight-recorder-pickle"
  // How sure this reader is from the first bytes (up to 64 KiB) that it can read the input:
  // 0 no, 1-49 by elimination, 50-89 likely, 90-100 by magic.
  virtual int probe(const model::SourceFile& file, std::string_view head) const = 0;
  // Reads all of it into `out`.
  virtual void read(ByteSource& source, FileContext context, model::Evidence& out) const = 0;
};

}  // namespace holter::formats
