// SPDX-License-Identifier: Apache-2.0
#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

namespace holter::base {

namespace {
constexpr std::size_t kBlock = 64 * 1024;
}

StringPool::StringPool() {
  texts_.emplace_back();
  ids_.emplace(std::string_view(), StrId::kEmpty);
}

std::string_view StringPool::store(std::string_view text) {
  if (block_size_ - block_used_ < text.size()) {
    block_size_ = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique<char[]>(block_size_));
    block_used_ = 0;
  }
  char* at = blocks_.back().get() + block_used_;
  std::memcpy(at, text.data(), text.size());
  block_used_ += text.size();
  return {at, text.size()};
}

StrId StringPool::intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = static_cast<StrId>(texts_.size());
  texts_.push_back(store(text));
  ids_.emplace(texts_.back(), id);
  return id;
}

std::vector<StrId> StringPool::remap(const StringPool& other) {
  std::vector<StrId> out(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) out[i] = intern(other.texts_[i]);
  return out;
}

}  // namespace holter::base
