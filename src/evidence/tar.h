// SPDX-License-Identifier: Apache-2.0
// tar as a stream: v7, ustar, GNU (long names, base-256 sizes) and pax. Members are handed out in
// order and never written anywhere; names are data, not paths. Sparse members are not read.
// Formats: POSIX.1-2017 pax, GNU tar manual "Basic Tar Format".
#pragma once

#include <optional>
#include <string>

#include "evidence/stream.h"

namespace holter::evidence {

struct TarMember {
  enum class Kind { kFile, kFolder, kLink, kSpecial, kSparse };
  std::string name;
  Kind kind = Kind::kFile;
  std::uint64_t size = 0;  // of the content that follows
  std::int64_t modified_ns = 0;
};

// Whether a block of 512 bytes is a tar header with a right checksum.
bool is_tar_header(std::string_view block);

class TarReader {
 public:
  explicit TarReader(Stream& inner) : inner_(inner), content_(*this) {}

  // The next member; nothing at the end or when the archive is damaged (see trouble()). Skips what is
  // left of the previous one.
  std::optional<TarMember> next();
  // The content of the member that next() returned last.
  Stream& content() { return content_; }
  std::string_view trouble() const { return trouble_; }

 private:
  struct Content final : Stream {
    explicit Content(TarReader& owner) : reader(owner) {}
    std::string_view next() override { return reader.take(reader.content_left_); }
    std::string_view trouble() const override { return reader.content_left_ > 0 ? reader.trouble() : ""; }
    TarReader& reader;
  };
  struct Overrides {  // of the next member, from pax and GNU extension headers
    std::optional<std::string> name;
    std::optional<std::uint64_t> size;
    std::optional<std::int64_t> modified_ns;
    bool sparse = false;
  };

  bool read_block(std::string& block);
  std::optional<std::string> read_extension(std::uint64_t size);
  bool apply_extension(char type, std::uint64_t size);
  void apply_pax(std::string_view records, Overrides& to);
  TarMember member(const std::string& block, char type, std::uint64_t size);
  void skip_sparse_maps(std::string block);
  // Up to `left` bytes of the archive; counts them off `left`.
  std::string_view take(std::uint64_t& left);
  void skip(std::uint64_t& left);
  void damaged(std::string what);

  Stream& inner_;
  Content content_;
  std::string_view chunk_;
  std::uint64_t offset_ = 0;
  std::uint64_t content_left_ = 0;
  std::uint64_t padding_ = 0;
  Overrides overrides_;
  Overrides global_;  // of pax 'g' headers
  bool ended_ = false;
  std::string trouble_;
};

}  // namespace holter::evidence
