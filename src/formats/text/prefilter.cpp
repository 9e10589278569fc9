// SPDX-License-Identifier: Apache-2.0
#include "formats/text/prefilter.h"

#include <algorithm>
#include <unordered_map>

#include "base/strings.h"

namespace holter::formats::text {

namespace {

char fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// How common a byte is in logs, roughly; a window of rare bytes gives few false stops.
int commonness(char c) {
  if (c == ' ') return 12;
  if (std::string_view("etaoinsr").find(c) != std::string_view::npos) return 8;
  if (is_letter(c)) return 5;
  if (c >= '0' && c <= '9') return 6;
  if (std::string_view(".:,-_=/[]()").find(c) != std::string_view::npos) return 6;
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

Prefilter::Prefilter(std::vector<Literal> literals) : bits_((std::size_t{1} << kBitTableBits) / 64) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::uint32_t i = 0; i < literals.size(); ++i) {
    std::string text = base::lower(literals[i].text);
    if (text.empty() || text.find('\n') != std::string::npos) continue;
    const auto [at, fresh] = index.emplace(text, literals_.size());
    if (fresh) literals_.push_back({std::move(text), literals[i].mask, i});
    else literals_[at->second].mask |= literals[i].mask;
  }
  for (std::uint32_t i = 0; i < literals_.size(); ++i) {
    const auto& text = literals_[i].text;
    if (text.size() >= kWindow) {
      const auto window = best_window(text, kWindow);
      for (std::uint32_t k = 0; k < kStride; ++k) add_block(i, window + k);
      continue;
    }
    const auto key = best_window(text, 1);
    short_.push_back({i, key, text[key]});
    if (is_letter(text[key])) short_.push_back({i, key, static_cast<char>(text[key] ^ 0x20)});
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const auto& a, const auto& b) { return hash(a.block) < hash(b.block); });
  first_.assign((std::size_t{1} << kBucketBits) + 1, 0);
  for (const auto& entry : entries_) ++first_[bucket(hash(entry.block)) + 1];
  for (std::size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
}

void Prefilter::add_block(std::uint32_t literal, std::uint32_t offset) {
  const auto block = load(literals_[literal].text.data() + offset);
  const auto h = hash(block);
  bits_[h / 64] |= std::uint64_t{1} << (h % 64);
  entries_.push_back({block, literal, offset});
}

bool Prefilter::stands(std::string_view text, std::size_t begin, const std::string& literal) {
  if (begin > text.size() || text.size() - begin < literal.size()) return false;
  const char* at = text.data() + begin;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (fold(at[i]) != literal[i]) return false;
  }
  return true;
}

std::uint64_t Prefilter::masks(std::string_view text) const {
  std::uint64_t all = 0;
  for_each(text, [&](const Hit& hit) { all |= hit.mask; });
  return all;
}

}  // namespace holter::formats::text
