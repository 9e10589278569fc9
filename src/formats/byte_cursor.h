// SPDX-License-Identifier: Apache-2.0
// Bytes of a ByteSource one after another, with contiguous views over chunk borders.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "formats/reader.h"

namespace holter::formats {

class ByteCursor {
 public:
  explicit ByteCursor(ByteSource& source) : source_(source) {}

  // The next byte, or -1 at the end.
  int get() { return at_ != end_ || refill() ? static_cast<unsigned char>(*at_++) : -1; }
  int peek() { return at_ != end_ || refill() ? static_cast<unsigned char>(*at_) : -1; }
  std::uint64_t offset() const { return base_ - static_cast<std::uint64_t>(end_ - at_); }

  // The next `count` bytes; valid until the next call. False when the input ends before.
  bool take(std::size_t count, std::string_view& out) {
    if (static_cast<std::size_t>(end_ - at_) >= count) {
      out = {at_, count};
      at_ += count;
      return true;
    }
    return take_over_border(count, out);
  }

  bool skip(std::uint64_t count) {
    while (count > 0) {
      if (at_ == end_ && !refill()) return false;
      const auto step = std::min<std::uint64_t>(count, static_cast<std::uint64_t>(end_ - at_));
      at_ += step;
      count -= step;
    }
    return true;
  }

  // Little-endian, as pickle stores them.
  template <typename Int>
  bool little(Int& out) {
    std::string_view bytes;
    if (!take(sizeof(Int), bytes)) return false;
    std::memcpy(&out, bytes.data(), sizeof(Int));
    if constexpr (std::endian::native == std::endian::big) out = reversed(out);
    return true;
  }

 private:
  template <typename Int>
  static Int reversed(Int v) {
    char bytes[sizeof(Int)];
    std::memcpy(bytes, &v, sizeof(Int));
    std::reverse(bytes, bytes + sizeof(Int));
    std::memcpy(&v, bytes, sizeof(Int));
    return v;
  }

  bool refill() {
    const auto chunk = source_.next();
    at_ = chunk.data();
    end_ = at_ + chunk.size();
    base_ += chunk.size();
    return !chunk.empty();
  }

  bool take_over_border(std::size_t count, std::string_view& out) {
    scratch_.clear();  // grows with what is really there, not with what the length field says
    while (scratch_.size() < count) {
      if (at_ == end_ && !refill()) return false;
      const auto step = std::min(count - scratch_.size(), static_cast<std::size_t>(end_ - at_));
      scratch_.append(at_, step);
      at_ += step;
    }
    out = scratch_;
    return true;
  }

  ByteSource& source_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t base_ = 0;
  std::string scratch_;
};

}  // namespace holter::formats
