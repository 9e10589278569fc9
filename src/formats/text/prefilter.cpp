// SPDX-License-Identifier: Apache-2.0
#include "formats/text/prefilter.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/strings.h"

namespace holter::formats::text {

namespace {

constexpr std::size_t kMaxWindow = 12;

char fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// How common a byte is in logs, roughly; a window of rare bytes gives few false stops.
int commonness(char c) {
  if (c == ' ') return 12;
  if (std::string_view("etaoinsr").find(c) != std::string_view::npos) return 8;
  if (c >= 'a' && c <= 'z') return 5;
  if (c >= '0' && c <= '9') return 6;
  return 3;
}

// Where in the literal the window of `size` bytes with the rarest bytes starts.
std::uint32_t best_window(std::string_view literal, std::size_t size) {
  std::uint32_t best = 0;
  int best_score = 1 << 20;
  for (std::size_t at = 0; at + size <= literal.size(); ++at) {
    int score = 0;
    for (const char c : literal.substr(at, size)) score += commonness(c);
    if (score < best_score) best_score = score, best = static_cast<std::uint32_t>(at);
  }
  return best;
}

}  // namespace

std::uint32_t Prefilter::hash(const char* at) {
  // Case is folded by setting one bit: other bytes that collide are told apart by stands().
  const auto byte = [&](int i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(at[i]) | 0x20); };
  const std::uint32_t block = byte(0) | byte(1) << 8 | byte(2) << 16;
  return (block * 0x9E3779B1u) >> (32 - kTableBits);
}

Prefilter::Prefilter(std::vector<Literal> literals) {
  std::map<std::string, std::size_t> index;
  for (std::uint32_t i = 0; i < literals.size(); ++i) {
    std::string text = base::lower(literals[i].text);
    if (text.size() < kMinLiteral) continue;
    const auto [at, fresh] = index.emplace(text, literals_.size());
    if (fresh) literals_.push_back({std::move(text), literals[i].mask, i});
    else literals_[at->second].mask |= literals[i].mask;
  }
  window_ = kMaxWindow;
  for (const auto& literal : literals_) window_ = std::min(window_, literal.text.size());

  const auto size = std::size_t{1} << kTableBits;
  shift_.assign(size, static_cast<std::uint8_t>(window_ - kBlock + 1));
  std::map<std::uint32_t, std::vector<Entry>> buckets;
  for (std::uint32_t i = 0; i < literals_.size(); ++i) {
    const auto offset = best_window(literals_[i].text, window_);
    for (std::size_t at = 0; at + kBlock <= window_; ++at) {
      const auto h = hash(literals_[i].text.data() + offset + at);
      shift_[h] = std::min(shift_[h], static_cast<std::uint8_t>(window_ - kBlock - at));
    }
    buckets[hash(literals_[i].text.data() + offset + window_ - kBlock)].push_back({i, offset});
  }
  first_.assign(size + 1, 0);
  for (const auto& [h, bucket] : buckets) {
    first_[h + 1] = static_cast<std::uint32_t>(bucket.size());
    entries_.insert(entries_.end(), bucket.begin(), bucket.end());
  }
  for (std::size_t h = 0; h < size; ++h) first_[h + 1] += first_[h];
}

bool Prefilter::stands(std::string_view text, std::size_t begin, const std::string& literal) const {
  if (begin > text.size() || text.size() - begin < literal.size()) return false;
  const char* at = text.data() + begin;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (fold(at[i]) != literal[i]) return false;
  }
  return true;
}

bool Prefilter::next(std::string_view text, Cursor& cursor, Hit& hit) const {
  if (literals_.empty()) return false;
  std::size_t end = std::max(cursor.end, window_);
  auto skipped = cursor.end == end ? cursor.entry : 0;
  const char* data = text.data();
  while (end <= text.size()) {
    const auto h = hash(data + end - kBlock);
    const auto shift = shift_[h];
    if (shift != 0) {
      end += shift;
      continue;
    }
    for (auto e = first_[h] + skipped; e < first_[h + 1]; ++e) {
      const auto& entry = entries_[e];
      const auto before = window_ + entry.offset;
      const auto& literal = literals_[entry.literal];
      if (end < before || !stands(text, end - before, literal.text)) continue;
      hit = {end - before, literal.mask, literal.index};
      cursor = {end, e + 1 - first_[h]};
      return true;
    }
    skipped = 0;
    ++end;
  }
  cursor = {end, 0};
  return false;
}

std::uint64_t Prefilter::masks(std::string_view text) const {
  std::uint64_t all = 0;
  Hit hit;
  for (Cursor cursor; next(text, cursor, hit);) all |= hit.mask;
  return all;
}

}  // namespace holter::formats::text
