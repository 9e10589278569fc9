// SPDX-License-Identifier: Apache-2.0
#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace holter::base {

namespace {
constexpr std::size_t kBlock = 64 * 1024;
constexpr std::size_t kFirstSlots = 256;
}  // namespace

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

StringPool::StringPool() : slots_(kFirstSlots) { (void)intern({}); }

std::string_view StringPool::store(std::string_view text) {
  if (block_size_ - block_used_ < text.size()) {
    block_size_ = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique<char[]>(block_size_));
    block_used_ = 0;
  }
  if (text.empty()) return {};
  char* at = blocks_.back().get() + block_used_;
  std::memcpy(at, text.data(), text.size());
  block_used_ += text.size();
  return {at, text.size()};
}

StrId StringPool::intern(std::string_view text) {
  const auto hash = hash_of(text);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].id_plus_1 != 0; at = (at + 1) & mask) {
    if (slots_[at].tag == tag && texts_[slots_[at].id_plus_1 - 1] == text) return StrId{slots_[at].id_plus_1 - 1};
  }
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(store(text));
  slots_[at] = {id + 1, tag};
  if (texts_.size() * 2 > slots_.size()) grow();
  return StrId{id};
}

void StringPool::grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  const std::size_t mask = bigger.size() - 1;
  for (const auto& slot : slots_) {
    if (slot.id_plus_1 == 0) continue;
    std::size_t at = hash_of(texts_[slot.id_plus_1 - 1]) & mask;
    while (bigger[at].id_plus_1 != 0) at = (at + 1) & mask;
    bigger[at] = slot;
  }
  slots_ = std::move(bigger);
}

std::vector<StrId> StringPool::remap(const StringPool& other) {
  std::vector<StrId> out(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) out[i] = intern(other.texts_[i]);
  return out;
}

}  // namespace holter::base
