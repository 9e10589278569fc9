// SPDX-License-Identifier: Apache-2.0
// Names of one report and where they stand in a text: one pass over the text, whatever the number of
// names. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holter::report::share {

enum class Edge : std::uint8_t {
  kPart,        // next to '_' or '-' too: "gn7" in "gn7_rank3"
  kIdentifier,  // not next to a letter, digit or '_'
  kWord,        // nor to '-'
};

struct KnownName {
  std::string kind, name;  // of the placeholder; name: the full one
  Edge edge = Edge::kPart;
  bool any_case = false;
  std::string spelling;  // as it stands in texts
};

class NameTable {
 public:
  // False when the spelling is known already.
  bool add(std::string spelling, KnownName name);
  bool contains(std::string_view spelling) const;
  // Replaces the longest names outside placeholders by what `show` says of each.
  void replace(std::string& value, const std::function<std::string(const KnownName&)>& show) const;

 private:
  const KnownName* longest_at(std::string_view value, std::string_view lower, std::size_t at) const;

  std::unordered_map<std::string, KnownName> names_;  // by spelling in lower case
  std::size_t longest_ = 0;
};

}  // namespace holter::report::share
