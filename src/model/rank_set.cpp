// SPDX-License-Identifier: Apache-2.0
#include "model/rank_set.h"

#include <algorithm>

#include "base/strings.h"

namespace holter::model {

namespace {

constexpr std::size_t kMaxRanks = std::size_t{4} << 20;

using Ranges = std::vector<RankSet::Range>;

// Sorts and joins ranges that touch.
void normalise(Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](auto a, auto b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (kept > 0 && ranges[i].first <= ranges[kept - 1].last + 1) {
      ranges[kept - 1].last = std::max(ranges[kept - 1].last, ranges[i].last);
    } else {
      ranges[kept++] = ranges[i];
    }
  }
  ranges.resize(kept);
}

std::optional<RankSet::Range> parse_range(std::string_view text) {
  text = base::trim(text);
  const auto dash = text.find('-');
  const auto first = base::to_int<std::int32_t>(base::trim(text.substr(0, dash)));
  if (!first || *first < 0) return std::nullopt;
  if (dash == std::string_view::npos) return RankSet::Range{*first, *first};
  const auto last = base::to_int<std::int32_t>(base::trim(text.substr(dash + 1)));
  if (!last || *last < *first) return std::nullopt;
  return RankSet::Range{*first, *last};
}

}  // namespace

RankSet::RankSet(std::initializer_list<std::int32_t> ranks) : RankSet(of(ranks)) {}

RankSet RankSet::range(std::int32_t first, std::int32_t last) {
  RankSet set;
  if (first <= last) set.ranges_.push_back({first, last});
  return set;
}

RankSet RankSet::of(std::vector<std::int32_t> ranks) {
  RankSet set;
  set.ranges_.reserve(ranks.size());
  for (const auto r : ranks) set.ranges_.push_back({r, r});
  normalise(set.ranges_);
  return set;
}

std::optional<RankSet> RankSet::parse(std::string_view text) {
  text = base::trim(text);
  if (!text.empty() && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  RankSet set;
  if (base::trim(text).empty()) return set;
  std::size_t total = 0;
  while (true) {
    const auto end = text.find_first_of(",/|");
    const auto range = parse_range(text.substr(0, end));
    if (!range) return std::nullopt;
    total += static_cast<std::size_t>(range->last) - static_cast<std::size_t>(range->first) + 1;
    if (total > kMaxRanks) return std::nullopt;
    set.ranges_.push_back(*range);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  normalise(set.ranges_);
  return set;
}

void RankSet::insert(std::int32_t rank) {
  if (contains(rank)) return;
  if (!ranges_.empty() && ranges_.back().last + 1 == rank) {
    ranges_.back().last = rank;
    return;
  }
  const bool rising = ranges_.empty() || ranges_.back().last < rank;
  ranges_.push_back({rank, rank});
  if (!rising) normalise(ranges_);
}

bool RankSet::contains(std::int32_t rank) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), rank,
                                      [](std::int32_t r, const Range& x) { return r < x.first; });
  return after != ranges_.begin() && std::prev(after)->last >= rank;
}

std::size_t RankSet::size() const {
  std::size_t n = 0;
  for (const auto& r : ranges_) n += static_cast<std::size_t>(r.last - r.first) + 1;
  return n;
}

std::vector<std::int32_t> RankSet::to_vector() const {
  std::vector<std::int32_t> out;
  out.reserve(size());
  for (const auto& r : ranges_) {
    for (std::int32_t i = r.first; i <= r.last; ++i) out.push_back(i);
  }
  return out;
}

std::string RankSet::to_string() const {
  std::string out;
  for (const auto& r : ranges_) {
    if (!out.empty()) out += ',';
    out += std::to_string(r.first);
    if (r.last > r.first) out += (r.last == r.first + 1 ? "," : "-") + std::to_string(r.last);
  }
  return out;
}

RankSet operator|(const RankSet& a, const RankSet& b) {
  RankSet out = a;
  out.ranges_.insert(out.ranges_.end(), b.ranges_.begin(), b.ranges_.end());
  normalise(out.ranges_);
  return out;
}

RankSet operator&(const RankSet& a, const RankSet& b) {
  RankSet out;
  auto x = a.ranges_.begin();
  auto y = b.ranges_.begin();
  while (x != a.ranges_.end() && y != b.ranges_.end()) {
    const auto first = std::max(x->first, y->first);
    const auto last = std::min(x->last, y->last);
    if (first <= last) out.ranges_.push_back({first, last});
    (x->last < y->last ? x : y)++;
  }
  return out;
}

RankSet operator-(const RankSet& a, const RankSet& b) {
  RankSet out;
  for (auto range : a.ranges_) {
    for (const auto& cut : b.ranges_) {
      if (cut.last < range.first) continue;
      if (cut.first > range.last) break;
      if (cut.first > range.first) out.ranges_.push_back({range.first, cut.first - 1});
      range.first = cut.last + 1;
    }
    if (range.first <= range.last) out.ranges_.push_back(range);
  }
  return out;
}

}  // namespace holter::model
