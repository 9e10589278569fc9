// SPDX-License-Identifier: Apache-2.0
// Interned strings: equal text, equal id. Id 0 is the empty string. Not thread-safe: one pool a
// thread, merged afterwards (remap). Text stays at its address for the life of the pool.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holter::base {

enum class StrId : std::uint32_t { kEmpty = 0 };

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
  std::string_view store(std::string_view text);

  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, StrId> ids_;
  std::deque<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
};

}  // namespace holter::base
