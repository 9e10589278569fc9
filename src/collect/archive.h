// SPDX-License-Identifier: Apache-2.0
// A .tar.zst as a stream (POSIX.1-1988 ustar, zstd frames), for a pipe to the collecting host or a file.
#pragma once

#include <functional>
#include <memory>

#include "collect/sink.h"

namespace holter::collect {

class ArchiveSink final : public Sink {
 public:
  // Takes the next bytes of the archive; false when they cannot be written.
  using Write = std::function<bool(std::string_view)>;

  explicit ArchiveSink(Write write);
  ~ArchiveSink() override;
  base::Result<bool> add(const std::string& name, std::string_view data, base::UnixNs modified) override;
  // The end of the archive. Without it a reader sees a cut archive, and all files that were complete.
  base::Result<bool> finish() override;

 private:
  enum class Step { kMore, kFlush, kEnd };
  base::Result<bool> put(std::string_view data, Step step);

  struct Compressor;
  Write write_;
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace holter::collect
