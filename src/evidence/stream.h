// SPDX-License-Identifier: Apache-2.0
// Inputs as streams: files read with read(), never mapped (they may change or shrink meanwhile), and
// the bounds on what one input and all of them together may deliver.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "evidence/read.h"
#include "formats/reader.h"

namespace holter::evidence {

// A ByteSource that says why it ended before its end; readers keep what they got.
class Stream : public formats::ByteSource {
 public:
  // Empty while all is well.
  virtual std::string_view trouble() const = 0;
  bool truncated() const override { return !trouble().empty(); }
};

// What all inputs together may still deliver. Shared by threads.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits), bytes_left_(limits.max_total_bytes) {}

  const Limits& limits() const { return limits_; }
  // False when fewer than `n` bytes are left.
  bool take_bytes(std::uint64_t n);
  // False when max_files have been taken.
  bool take_file() { return files_.fetch_add(1, std::memory_order_relaxed) < limits_.max_files; }

 private:
  const Limits limits_;
  std::atomic<std::uint64_t> bytes_left_;
  std::atomic<std::uint64_t> files_{0};
};

// An open file (or pipe given on the command line), without blocking. `buffer` is scratch space that
// a thread uses for one file after the other.
class FileStream final : public Stream {
 public:
  FileStream(int fd, std::uint64_t expected_bytes, std::vector<char>& buffer);
  std::string_view next() override;
  std::string_view trouble() const override { return trouble_; }

 private:
  int fd_;
  std::uint64_t expected_;
  std::uint64_t read_ = 0;
  std::vector<char>& buffer_;
  std::string trouble_;
};

// One input within its limits, whose first bytes can be looked at before it is read.
class BoundedStream final : public Stream {
 public:
  BoundedStream(Stream& inner, Budget& budget) : inner_(inner), budget_(budget) {}

  // Up to 64 KiB from the start, which next() delivers again.
  std::string_view head();
  std::string_view next() override;
  std::string_view trouble() const override { return trouble_.empty() ? inner_.trouble() : trouble_; }
  // Bytes taken from the inner stream so far.
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string_view pull();

  Stream& inner_;
  Budget& budget_;
  std::string head_;
  bool head_read_ = false;
  bool head_given_ = false;
  std::uint64_t bytes_ = 0;
  std::string trouble_;
};

}  // namespace holter::evidence
