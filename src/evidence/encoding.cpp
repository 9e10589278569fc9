// SPDX-License-Identifier: Apache-2.0
#include "evidence/encoding.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace holter::evidence {

namespace {

constexpr std::size_t kLookedAt = 4096;  // bytes of the start
constexpr std::size_t kFewestUnits = 8;  // without a mark
constexpr std::uint32_t kReplacement = 0xFFFD;

std::uint32_t unit(std::string_view text, std::size_t at, Encoding encoding) {
  const auto first = static_cast<unsigned char>(text[at]), second = static_cast<unsigned char>(text[at + 1]);
  return encoding == Encoding::kUtf16Le ? first | second << 8U : first << 8U | second;
}

bool is_text_unit(std::uint32_t u) {
  return u == '\t' || u == '\n' || u == '\r' || u == 0x1B || (u >= ' ' && u < 0x7F);
}

// The share of ASCII among the units; none when a zero unit is there, which no text holds.
double ascii_share(std::string_view text, Encoding encoding) {
  std::size_t units = 0, ascii = 0;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2, ++units) {
    const auto u = unit(text, at, encoding);
    if (u == 0) return 0;
    if (is_text_unit(u)) ++ascii;
  }
  return units == 0 ? 0 : static_cast<double>(ascii) / static_cast<double>(units);
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto byte = [&](std::uint32_t b) { out += static_cast<char>(b); };
  const auto tail = [&](unsigned shift) { byte(0x80U | ((c >> shift) & 0x3FU)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xC0U | c >> 6U), tail(0);
  if (c < 0x10000) return byte(0xE0U | c >> 12U), tail(6), tail(0);
  byte(0xF0U | c >> 18U), tail(12), tail(6), tail(0);
}

class WithoutMark final : public Stream {
 public:
  explicit WithoutMark(Stream& inner) : inner_(inner) {}
  std::string_view next() override {
    auto chunk = inner_.next();
    while (left_ > 0 && !chunk.empty()) {
      const auto n = std::min(left_, chunk.size());
      left_ -= n;
      chunk.remove_prefix(n);
      if (chunk.empty()) chunk = inner_.next();
    }
    return chunk;
  }
  std::string_view trouble() const override { return inner_.trouble(); }

 private:
  Stream& inner_;
  std::size_t left_ = 3;
};

class Utf16 final : public Stream {
 public:
  Utf16(Encoding encoding, Stream& inner) : encoding_(encoding), inner_(inner) {}

  std::string_view next() override {
    out_.clear();
    while (out_.empty()) {
      const auto chunk = inner_.next();
      if (chunk.empty()) {
        if (odd_ || high_ != 0) append_utf8(out_, kReplacement);
        odd_ = false, high_ = 0;
        break;
      }
      take(chunk);
    }
    return out_;
  }
  std::string_view trouble() const override { return inner_.trouble(); }

 private:
  void take(std::string_view chunk) {
    if (odd_) {
      const char pair[2] = {odd_byte_, chunk[0]};
      add(unit({pair, 2}, 0, encoding_));
      chunk.remove_prefix(1);
      odd_ = false;
    }
    std::size_t at = 0;
    for (; at + 1 < chunk.size(); at += 2) add(unit(chunk, at, encoding_));
    if (at < chunk.size()) odd_ = true, odd_byte_ = chunk[at];
  }
  void add(std::uint32_t u) {
    const bool low = u >= 0xDC00 && u < 0xE000;
    const auto high = std::exchange(high_, 0);
    if (high != 0 && low) return append_utf8(out_, 0x10000U + ((high - 0xD800U) << 10U) + (u - 0xDC00U));
    if (high != 0) append_utf8(out_, kReplacement);
    if (u >= 0xD800 && u < 0xDC00) high_ = u;
    else if (low) append_utf8(out_, kReplacement);
    else if (!(first_ && u == 0xFEFF)) append_utf8(out_, u);
    first_ = false;
  }

  const Encoding encoding_;
  Stream& inner_;
  std::string out_;
  bool first_ = true;  // unit: a mark is dropped
  bool odd_ = false;   // a byte waits for its other half
  char odd_byte_ = 0;
  std::uint32_t high_ = 0;  // a high surrogate waits for the low one
};

}  // namespace

Encoding detect_encoding(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) return Encoding::kUtf8Mark;
  head = head.substr(0, kLookedAt);
  const bool marked = head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF");
  for (const auto encoding : {Encoding::kUtf16Le, Encoding::kUtf16Be}) {
    if (marked) {
      if ((head[0] == '\xFF') == (encoding == Encoding::kUtf16Le) && ascii_share(head.substr(2), encoding) > 0.2) {
        return encoding;
      }
    } else if (head.size() >= 2 * kFewestUnits && ascii_share(head, encoding) > 0.9) {
      return encoding;
    }
  }
  return Encoding::kBytes;
}

std::unique_ptr<Stream> as_utf8(Encoding encoding, Stream& inner) {
  if (encoding == Encoding::kUtf8Mark) return std::make_unique<WithoutMark>(inner);
  return std::make_unique<Utf16>(encoding, inner);
}

}  // namespace holter::evidence
