// SPDX-License-Identifier: Apache-2.0
#include "evidence/decompress.h"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <array>

namespace holter::evidence {

namespace {

constexpr std::size_t kOut = 256 * 1024;
constexpr std::uint64_t kExpansionFrom = std::uint64_t{64} << 20;
constexpr std::uint64_t kXzMemory = std::uint64_t{192} << 20;  // xz -9 needs 65 MiB
constexpr int kZstdWindowLog = 27;                             // 128 MiB, the default of the tool

// Feeds input to a codec and hands out what it makes. A codec handles one buffer pair a call.
class Decoder : public Stream {
 public:
  Decoder(Stream& inner, const Limits& limits) : inner_(inner), limits_(limits), out_(kOut) {}

  std::string_view next() final {
    std::size_t made = 0;
    while (made == 0 && !ended_) made = advance();
    made_ += made;
    if (made_ > kExpansionFrom && static_cast<double>(made_) > limits_.max_expansion * static_cast<double>(taken_)) {
      stop(fmt::format("stopped: {} compressed bytes became {}, more than {} times as many", taken_, made_,
                       limits_.max_expansion));
    }
    return {out_.data(), made};
  }
  std::string_view trouble() const final { return trouble_; }

 protected:
  enum class Step { kMore, kEndOfMember, kError };
  // Consumes from `in`, writes to out_[0, out_size); sets `made`.
  virtual Step decode(std::string_view& in, std::size_t& made) = 0;
  // Prepares for another member.
  virtual void restart() = 0;
  virtual bool starts_member(std::string_view in) const = 0;

  std::vector<char>& out() { return out_; }

 private:
  std::size_t advance() {
    // A full buffer may have left output inside the codec, which comes out without input.
    if (in_.empty() && !out_was_full_ && !refill()) return 0;
    if (between_members_ && !begin_member()) return 0;
    const auto before = in_.size();
    std::size_t made = 0;
    const Step step = decode(in_, made);
    out_was_full_ = made == out_.size() && step == Step::kMore;
    if (step == Step::kError) {
      stop(fmt::format("damaged compressed data near compressed byte {}", taken_ - in_.size()));
    } else if (step == Step::kEndOfMember) {
      between_members_ = true;
    } else if (made == 0 && before > 0 && in_.size() == before) {
      stop("damaged compressed data: no progress");
    }
    return made;
  }

  bool refill() {
    in_ = inner_.next();
    taken_ += in_.size();
    if (!in_.empty()) return true;
    ended_ = true;
    if (inner_.truncated()) trouble_ = std::string(inner_.trouble());
    else if (!between_members_) trouble_ = "the compressed data ends early (truncated file)";
    return false;
  }

  bool begin_member() {
    const auto start = in_.find_first_not_of('\0');
    if (start == std::string_view::npos) {
      in_ = {};
      return false;
    }
    in_.remove_prefix(start);
    if (!starts_member(in_)) {
      stop("bytes that are not compressed data follow the compressed data");
      return false;
    }
    restart();
    between_members_ = false;
    return true;
  }

  void stop(std::string why) {
    trouble_ = std::move(why);
    ended_ = true;
  }

  Stream& inner_;
  const Limits limits_;
  std::vector<char> out_;
  std::string_view in_;
  std::uint64_t taken_ = 0;
  std::uint64_t made_ = 0;
  bool between_members_ = false;
  bool out_was_full_ = false;
  bool ended_ = false;
  std::string trouble_;
};

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder(Stream& inner, const Limits& limits) : Decoder(inner, limits) {
    ok_ = inflateInit2(&z_, 15 + 16) == Z_OK;
  }
  ~GzipDecoder() override { inflateEnd(&z_); }

 private:
  Step decode(std::string_view& in, std::size_t& made) override {
    if (!ok_) return Step::kError;
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    z_.avail_in = static_cast<uInt>(in.size());
    z_.next_out = reinterpret_cast<Bytef*>(out().data());
    z_.avail_out = static_cast<uInt>(out().size());
    const int rc = inflate(&z_, Z_NO_FLUSH);
    in.remove_prefix(in.size() - z_.avail_in);
    made = out().size() - z_.avail_out;
    if (rc == Z_STREAM_END) return Step::kEndOfMember;
    return rc == Z_OK || rc == Z_BUF_ERROR ? Step::kMore : Step::kError;
  }
  void restart() override { inflateReset(&z_); }
  bool starts_member(std::string_view in) const override { return in[0] == '\x1f'; }

  z_stream z_{};
  bool ok_ = false;
};

class XzDecoder final : public Decoder {
 public:
  XzDecoder(Stream& inner, const Limits& limits) : Decoder(inner, limits) { restart(); }
  ~XzDecoder() override { lzma_end(&z_); }

 private:
  Step decode(std::string_view& in, std::size_t& made) override {
    if (!ok_) return Step::kError;
    z_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    z_.avail_in = in.size();
    z_.next_out = reinterpret_cast<std::uint8_t*>(out().data());
    z_.avail_out = out().size();
    const lzma_ret rc = lzma_code(&z_, LZMA_RUN);
    in.remove_prefix(in.size() - z_.avail_in);
    made = out().size() - z_.avail_out;
    if (rc == LZMA_STREAM_END) return Step::kEndOfMember;
    return rc == LZMA_OK || rc == LZMA_BUF_ERROR ? Step::kMore : Step::kError;
  }
  void restart() override { ok_ = lzma_stream_decoder(&z_, kXzMemory, 0) == LZMA_OK; }
  bool starts_member(std::string_view in) const override { return in[0] == '\xfd'; }

  lzma_stream z_ = LZMA_STREAM_INIT;
  bool ok_ = false;
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder(Stream& inner, const Limits& limits) : Decoder(inner, limits), z_(ZSTD_createDCtx()) {
    if (z_) ZSTD_DCtx_setParameter(z_, ZSTD_d_windowLogMax, kZstdWindowLog);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(z_); }

 private:
  Step decode(std::string_view& in, std::size_t& made) override {
    if (!z_) return Step::kError;
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out().data(), out().size(), 0};
    const std::size_t rc = ZSTD_decompressStream(z_, &to, &from);
    in.remove_prefix(from.pos);
    made = to.pos;
    if (ZSTD_isError(rc)) return Step::kError;
    return rc == 0 ? Step::kEndOfMember : Step::kMore;
  }
  void restart() override { ZSTD_DCtx_reset(z_, ZSTD_reset_session_only); }
  bool starts_member(std::string_view in) const override {
    return in[0] == '\x28' || (static_cast<unsigned char>(in[0]) & 0xF0) == 0x50;  // frame, skippable frame
  }

  ZSTD_DCtx* z_;
};

}  // namespace

Compression detect_compression(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("\x1f\x8b\x08"sv)) return Compression::kGzip;
  if (head.starts_with("\xfd"
                       "7zXZ\0"sv))
    return Compression::kXz;
  if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::kZstd;
  return Compression::kNone;
}

const char* to_string(Compression compression) {
  static constexpr std::array kNames{"none", "gzip", "xz", "zstd"};
  return kNames[static_cast<std::size_t>(compression)];
}

std::unique_ptr<Stream> decompress(Compression compression, Stream& inner, const Limits& limits) {
  switch (compression) {
    case Compression::kGzip: return std::make_unique<GzipDecoder>(inner, limits);
    case Compression::kXz: return std::make_unique<XzDecoder>(inner, limits);
    case Compression::kZstd: return std::make_unique<ZstdDecoder>(inner, limits);
    case Compression::kNone: break;
  }
  return nullptr;
}

}  // namespace holter::evidence
