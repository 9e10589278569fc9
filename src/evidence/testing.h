// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests in this folder: archives made in memory, a scratch folder, a reader that keeps
// what it was given.
#pragma once

#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "evidence/stream.h"

namespace holter::evidence::testing {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "holter-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::string gzip(std::string_view data) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, data.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  z.avail_in = static_cast<uInt>(data.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline std::string xz(std::string_view data) {
  std::string out(lzma_stream_buffer_bound(data.size()), '\0');
  std::size_t size = 0;
  lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(data.data()), data.size(),
                          reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  out.resize(size);
  return out;
}

inline std::string zstd(std::string_view data) {
  std::string out(ZSTD_compressBound(data.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), data.data(), data.size(), 3));
  return out;
}

// One tar block sequence: header with a right checksum, content, padding.
inline std::string tar_entry(const std::string& name, std::string_view content, char type = '0',
                             const std::string& size_field = "", const std::string& prefix = "") {
  std::string block(512, '\0');
  std::memcpy(block.data(), name.data(), std::min<std::size_t>(name.size(), 100));
  char number[16];
  std::snprintf(number, sizeof number, "%011zo", content.size());
  std::memcpy(&block[124], number, 12);
  if (!size_field.empty()) std::memcpy(&block[124], size_field.data(), 12);
  std::memcpy(&block[136], "15000000000", 12);
  block[156] = type;
  std::memcpy(&block[257],
              "ustar\0"
              "00",
              8);
  std::memcpy(&block[345], prefix.data(), std::min<std::size_t>(prefix.size(), 155));
  std::memset(&block[148], ' ', 8);
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  std::snprintf(&block[148], 8, "%06o", sum);
  block += content;
  block.append((512 - content.size() % 512) % 512, '\0');
  return block;
}

inline std::string tar_end() { return std::string(1024, '\0'); }

inline std::string pax_record(const std::string& key, const std::string& value) {
  const std::string body = " " + key + "=" + value + "\n";
  std::size_t length = body.size() + 1;
  while (std::to_string(length).size() + body.size() != length) ++length;
  return std::to_string(length) + body;
}

// A stream over bytes in memory, in chunks.
class TextStream final : public Stream {
 public:
  explicit TextStream(std::string_view data, std::size_t chunk = 4096, std::string trouble = "")
      : source_(data, chunk), trouble_(std::move(trouble)) {}
  std::string_view next() override { return source_.next(); }
  std::string_view trouble() const override { return trouble_; }

 private:
  formats::MemorySource source_;
  std::string trouble_;
};

inline std::string read_all(formats::ByteSource& source) {
  std::string out;
  for (auto chunk = source.next(); !chunk.empty(); chunk = source.next()) out += chunk;
  return out;
}

// Takes any text without zero bytes; each file becomes one event with its whole content.
class KeepingReader final : public formats::Reader {
 public:
  std::string_view name() const override { return "keep"; }
  int probe(const model::SourceFile&, std::string_view head) const override {
    return head.find('\0') == std::string_view::npos ? 10 : 0;
  }
  void read(formats::ByteSource& source, formats::FileContext context, model::Evidence& out) const override {
    const std::string all = read_all(source);
    model::Event event;
    event.kind = out.intern(source.truncated() ? "truncated" : "whole");
    event.text = out.intern(all);
    event.at = {context.id, model::PosKind::kLine, 1};
    out.events.push_back(event);
  }
};

inline std::vector<std::unique_ptr<formats::Reader>> keeping_readers() {
  std::vector<std::unique_ptr<formats::Reader>> readers;
  readers.push_back(std::make_unique<KeepingReader>());
  return readers;
}

}  // namespace holter::evidence::testing
