// SPDX-License-Identifier: Apache-2.0
#include "collect/archive.h"

#include <zstd.h>

#include <array>
#include <cstring>

#include <fmt/format.h>

namespace holter::collect {

namespace {

constexpr std::size_t kBlock = 512;
constexpr int kLevel = 3;

// Header of a regular file. All fields are octal text; the checksum counts its own field as blanks.
std::array<char, kBlock> header(const std::string& name, std::size_t size, base::UnixNs modified) {
  std::array<char, kBlock> block{};
  const auto put = [&](std::size_t at, std::string_view text) {
    std::memcpy(block.data() + at, text.data(), text.size());
  };
  put(0, std::string_view(name).substr(0, 99));
  put(100, "0000600");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", size));
  put(136, fmt::format("{:011o}", std::max<base::UnixNs>(0, modified / 1'000'000'000)));
  put(148, "        ");
  put(156, "0");
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  return block;
}

}  // namespace

struct ArchiveSink::Compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<char> buffer = std::vector<char>(ZSTD_CStreamOutSize());
  Compressor() { ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel); }
  ~Compressor() { ZSTD_freeCCtx(context); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
};

ArchiveSink::ArchiveSink(Write write) : write_(std::move(write)), compressor_(std::make_unique<Compressor>()) {}
ArchiveSink::~ArchiveSink() = default;

base::Result<bool> ArchiveSink::put(std::string_view data, Step step) {
  auto& c = *compressor_;
  const auto mode = step == Step::kMore ? ZSTD_e_continue : step == Step::kFlush ? ZSTD_e_flush : ZSTD_e_end;
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  while (true) {
    ZSTD_outBuffer out{c.buffer.data(), c.buffer.size(), 0};
    const auto left = ZSTD_compressStream2(c.context, &out, &in, mode);
    if (ZSTD_isError(left)) return base::fail(base::Code::kInvalid, ZSTD_getErrorName(left));
    if (out.pos > 0 && !write_({c.buffer.data(), out.pos}))
      return base::fail(base::Code::kInvalid, "the archive cannot be written");
    if (step == Step::kMore ? in.pos == in.size : left == 0) return true;
  }
}

base::Result<bool> ArchiveSink::add(const std::string& name, std::string_view data, base::UnixNs modified) {
  const auto head = header(name, data.size(), modified);
  if (auto done = put({head.data(), head.size()}, Step::kMore); !done) return done;
  if (auto done = put(data, Step::kMore); !done) return done;
  const std::string padding((kBlock - data.size() % kBlock) % kBlock, '\0');
  return put(padding, Step::kFlush);  // what is collected leaves the host at once
}

base::Result<bool> ArchiveSink::finish() { return put(std::string(2 * kBlock, '\0'), Step::kEnd); }

}  // namespace holter::collect
