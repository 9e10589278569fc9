// SPDX-License-Identifier: Apache-2.0
// A set of ranks as sorted, disjoint, inclusive ranges: "0-412,414-1023". Ranks of one set are all
// global or all of one group; the owner knows which.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holter::model {

class RankSet {
 public:
  struct Range {
    std::int32_t first;
    std::int32_t last;
    bool operator==(const Range&) const = default;
  };

  RankSet() = default;
  RankSet(std::initializer_list<std::int32_t> ranks);
  static RankSet range(std::int32_t first, std::int32_t last);
  static RankSet of(std::vector<std::int32_t> ranks);
  // "0-3,5", "[0, 1, 2]", "0-2/5-7|3"; nothing on other text or more than 4M ranks.
  static std::optional<RankSet> parse(std::string_view text);

  void insert(std::int32_t rank);
  bool contains(std::int32_t rank) const;
  bool empty() const { return ranges_.empty(); }
  std::size_t size() const;
  std::int32_t first() const { return ranges_.front().first; }  // not empty
  const std::vector<Range>& ranges() const { return ranges_; }
  std::vector<std::int32_t> to_vector() const;
  std::string to_string() const;

  bool operator==(const RankSet&) const = default;
  friend RankSet operator|(const RankSet& a, const RankSet& b);
  friend RankSet operator&(const RankSet& a, const RankSet& b);
  friend RankSet operator-(const RankSet& a, const RankSet& b);

 private:
  std::vector<Range> ranges_;
};

}  // namespace holter::model
