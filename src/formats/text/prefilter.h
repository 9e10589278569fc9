// SPDX-License-Identifier: Apache-2.0
// Finds which of some thousand literals stand in a text, at well below a nanosecond a byte.
//
// Of every literal, the rarest five bytes hold two blocks of four bytes, one of which begins at an even
// place of the text. So every second place is looked at, in a table of bits that stays in the first cache;
// the few places that it lets through are compared. Letters compare without case; callers confirm with a
// pattern. Literals shorter than five bytes are searched one by one for their rarest byte: have few.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace holter::formats::text {

class Prefilter {
 public:
  struct Literal {
    std::string text;        // not empty, without line ends; others are not accepted
    std::uint64_t mask = 0;  // what a hit means to the caller
  };
  struct Hit {
    std::size_t begin = 0;  // where the literal starts
    std::uint64_t mask = 0;
    std::uint32_t literal = 0;  // index in the order given (the first of equal ones)
  };

  explicit Prefilter(std::vector<Literal> literals);

  // Calls f(Hit) for every occurrence, overlaps too. Those of literals of five bytes and more come first,
  // line after line, then the short ones.
  template <typename F>
  void for_each(std::string_view text, F f) const {
    if (text.size() >= kBlock) {
      for (std::size_t at = 0, last = text.size() - kBlock; at <= last; at += kStride) {
        const auto block = load(text.data() + at);
        const auto h = hash(block);
        if (bits_[h / 64] >> (h % 64) & 1) compare(text, at, block, f);
      }
    }
    for (const auto& s : short_) find_short(text, s, f);
  }
  // All masks that stand in the text.
  std::uint64_t masks(std::string_view text) const;

 private:
  static constexpr std::size_t kBlock = 4;
  static constexpr std::size_t kStride = 2;
  static constexpr std::size_t kWindow = kBlock + kStride - 1;
  static constexpr int kBitTableBits = 17;
  static constexpr int kBucketBits = 12;

  struct Folded {
    std::string text;  // lower case
    std::uint64_t mask;
    std::uint32_t index;
  };
  struct Entry {
    std::uint32_t block;
    std::uint32_t literal;  // index in literals_
    std::uint32_t offset;   // of the block in the literal
  };
  struct Short {
    std::uint32_t literal;
    std::uint32_t offset;  // of its rarest byte
    char key;
  };

  // Case is folded by setting one bit: other bytes that collide are told apart by stands().
  static std::uint32_t load(const char* at) {
    std::uint32_t block = 0;
    std::memcpy(&block, at, kBlock);
    return block | 0x20202020U;
  }
  static std::uint32_t hash(std::uint32_t block) { return (block * 0x9E3779B1U) >> (32 - kBitTableBits); }
  static std::uint32_t bucket(std::uint32_t hash) { return hash >> (kBitTableBits - kBucketBits); }
  static bool stands(std::string_view text, std::size_t begin, const std::string& literal);

  template <typename F>
  void compare(std::string_view text, std::size_t at, std::uint32_t block, F& f) const {
    const auto b = bucket(hash(block));
    for (auto e = first_[b]; e < first_[b + 1]; ++e) {
      const auto& entry = entries_[e];
      if (entry.block != block || at < entry.offset) continue;
      const auto& literal = literals_[entry.literal];
      const auto begin = at - entry.offset;
      if (stands(text, begin, literal.text)) f(Hit{begin, literal.mask, literal.index});
    }
  }
  template <typename F>
  void find_short(std::string_view text, const Short& s, F& f) const {
    const auto& literal = literals_[s.literal];
    for (auto at = text.find(s.key); at != std::string_view::npos; at = text.find(s.key, at + 1)) {
      if (at < s.offset || !stands(text, at - s.offset, literal.text)) continue;
      f(Hit{at - s.offset, literal.mask, literal.index});
    }
  }
  void add_block(std::uint32_t literal, std::uint32_t offset);

  std::vector<Folded> literals_;
  std::vector<std::uint64_t> bits_;   // by hash of a block: some literal holds such a block
  std::vector<std::uint32_t> first_;  // by bucket: first entry, entries end where the next bucket begins
  std::vector<Entry> entries_;
  std::vector<Short> short_;
};

}  // namespace holter::formats::text
