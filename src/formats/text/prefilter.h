// SPDX-License-Identifier: Apache-2.0
// Finds which of some hundred literals stand in a text, at a fraction of a nanosecond a byte.
//
// Wu-Manber: a table tells for every block of three bytes how far the next possible literal is, so
// most bytes are never looked at. Letters compare without case; callers confirm with a pattern.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holter::formats::text {

class Prefilter {
 public:
  struct Literal {
    std::string text;        // at least kMinLiteral bytes; shorter ones are not accepted
    std::uint64_t mask = 0;  // what a hit means to the caller
  };
  struct Hit {
    std::size_t begin = 0;  // where the literal starts
    std::uint64_t mask = 0;
    std::uint32_t literal = 0;  // index in the order given (the first of equal ones)
  };
  // Where a search stands: default to start, or .end to skip ahead.
  struct Cursor {
    std::size_t end = 0;      // no window that ends before this is looked at
    std::uint32_t entry = 0;  // of the windows that end there, how many were reported
  };
  static constexpr std::size_t kMinLiteral = 3;

  explicit Prefilter(std::vector<Literal> literals);

  // The next occurrence of any literal; moves the cursor behind it. All are found, overlaps too.
  bool next(std::string_view text, Cursor& cursor, Hit& hit) const;
  // All masks that stand in the text.
  std::uint64_t masks(std::string_view text) const;
  // Calls f(index of literal) for every occurrence.
  template <typename F>
  void for_each(std::string_view text, F f) const {
    Hit hit;
    for (Cursor cursor; next(text, cursor, hit);) f(hit.literal);
  }

  std::size_t window() const { return window_; }

 private:
  struct Entry {
    std::uint32_t literal;  // index in literals_
    std::uint32_t offset;   // of the window in the literal
  };
  static constexpr std::size_t kBlock = 3;
  static constexpr std::size_t kTableBits = 16;

  static std::uint32_t hash(const char* at);
  bool stands(std::string_view text, std::size_t begin, const std::string& literal) const;

  struct Folded {
    std::string text;  // lower case
    std::uint64_t mask;
    std::uint32_t index;
  };
  std::vector<Folded> literals_;
  std::size_t window_ = kMinLiteral;
  std::vector<std::uint8_t> shift_;   // by hash of a block: bytes that may be skipped
  std::vector<std::uint32_t> first_;  // by hash: first entry, entries end where the next hash begins
  std::vector<Entry> entries_;
};

}  // namespace holter::formats::text
