// SPDX-License-Identifier: Apache-2.0
// Files -> model: finds the format of every input by content, reads it, decides whose it is (rank,
// node, attempt) and aligns clocks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "formats/reader.h"
#include "model/evidence.h"
#include "model/rules.h"

namespace holter::evidence {

// Bounds on hostile or huge inputs; each one that is reached is a Problem in the report.
struct Limits {
  std::uint64_t max_files = 200'000;
  std::uint64_t max_file_bytes = std::uint64_t{8} << 30;  // after decompression
  std::uint64_t max_total_bytes = std::uint64_t{64} << 30;
  double max_expansion = 200;  // of compressed data above 64 MiB
  int max_archive_depth = 3;   // archives in archives
  int max_folder_depth = 32;
};

struct Options {
  Limits limits;
  // Runs the work on threads of the program (base::thread_executor); empty: in the calling thread.
  // The result is the same.
  base::Executor executor;
  // Called now and then with files done and known so far, by one thread at a time; may be empty.
  std::function<void(std::size_t done, std::size_t known)> progress;
};

// Reads files, folders and archives; "-" is standard input. Fails only when nothing could be read at
// all; everything else is a Problem of the evidence.
base::Result<model::Evidence> read(const std::vector<std::string>& paths, const model::Rules& rules,
                                   const Options& options);
// The same with readers of the caller's choice.
base::Result<model::Evidence> read(const std::vector<std::string>& paths,
                                   const std::vector<std::unique_ptr<formats::Reader>>& readers,
                                   const Options& options);

}  // namespace holter::evidence
