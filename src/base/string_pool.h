// SPDX-License-Identifier: Apache-2.0
// Interned strings: equal text, equal id. Id 0 is the empty string. Not thread-safe: one pool a
// thread, merged afterwards (remap). Text stays at its address for the life of the pool.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

namespace holter::base {

enum class StrId : std::uint32_t { kEmpty = 0 };

// 64-bit XXH3, the hash of all tables of text.
std::uint64_t hash_of(std::string_view text);

class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  StrId intern(std::string_view text);
  std::string_view view(StrId id) const { return texts_[static_cast<std::uint32_t>(id)]; }
  std::size_t size() const { return texts_.size(); }
  // For every id of `other`, the id of the same text here.
  std::vector<StrId> remap(const StringPool& other);

 private:
  // Open addressing over a power of two of slots, at most half of them used.
  struct Slot {
    std::uint32_t id_plus_1 = 0;  // 0: free
    std::uint32_t tag = 0;        // other half of the hash
  };

  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;
  std::deque<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
};

}  // namespace holter::base
