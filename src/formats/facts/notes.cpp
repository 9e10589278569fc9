// SPDX-License-Identifier: Apache-2.0
// What people and counters write down in small files: "tracked_objects=4671002", "driver: 570.133.20",
// "kv usage 0.38, preemptions 0", "dtype=bfloat16: normal answers", free sentences.
#include <algorithm>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

constexpr std::size_t kMaxNote = 400;

bool is_name_text(std::string_view text) {
  if (text.empty() || text.size() > 60) return false;
  if (!((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'))) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ' ' ||
           c == '-' || c == '.' || c == '/' || c == '(' || c == ')' || c == '%';
  });
}

// "kv usage 0.38", "gpu util 99%", "preemptions 0", "waiting: 3 reqs", "p99=12ms": name, then a number.
struct Pair {
  std::string_view name, value;
};
bool pair_of(std::string_view part, Pair& out) {
  part = base::trim(part);
  auto split = part.find_first_of("=:");
  if (split == std::string_view::npos) {
    split = part.find(" 0");
    for (char digit = '1'; digit <= '9'; ++digit) split = std::min(split, part.find(std::string(" ") + digit));
    if (split == std::string_view::npos) return false;
  }
  out.name = base::trim(part.substr(0, split));
  out.value = base::trim(part.substr(split + 1));
  std::string_view unit;
  return is_name_text(out.name) && leading_number(out.value, &unit) && unit.size() <= 16;
}

bool metric_list(std::string_view line, FactWriter& facts) {
  const char separator = line.find(" | ") != std::string_view::npos ? '|'
                         : line.find(';') != std::string_view::npos ? ';'
                                                                    : ',';
  std::vector<Pair> pairs;
  for (const auto part : base::split(line, separator)) {
    if (base::trim(part).empty()) continue;
    Pair pair;
    if (!pair_of(part, pair)) return false;
    pairs.push_back(pair);
  }
  if (pairs.empty() || pairs.size() > 64) return false;
  for (const auto& pair : pairs) facts.add("kv." + key_of(pair.name), pair.value, pair.name);
  return true;
}

}  // namespace

bool add_note(std::string_view line, FactWriter& facts) {
  line = base::trim(line);
  if (line.empty() || line.size() > 1000) return false;
  if (line.starts_with("# ")) line = base::trim(line.substr(2));
  if (metric_list(line, facts)) return true;
  // "condition: outcome" (the condition may hold '='), else "key = value", else a sentence.
  const auto colon = line.find(": ");
  const auto eq = line.find('=');
  if (colon != std::string_view::npos && colon > 0 && colon < 160) {
    facts.add("kv." + key_of(line.substr(0, colon)), line.substr(colon + 2), line.substr(0, colon));
  } else if (eq != std::string_view::npos && is_name_text(base::trim(line.substr(0, eq)))) {
    const auto name = base::trim(line.substr(0, eq));
    facts.add("kv." + key_of(name), line.substr(eq + 1), name);
  } else {
    facts.add("note", base::ellipsize(line, kMaxNote)).has_number = false;
  }
  return true;
}

Recognisers make_recognisers() {
  Recognisers all;
  all.push_back(make_gpu_memory());
  all.push_back(make_limits());
  all.push_back(make_gpu_query());
  all.push_back(make_gpu_xml());
  all.push_back(make_gpu_screen());
  all.push_back(make_gpu_list());
  all.push_back(make_pci());
  all.push_back(make_rdma());
  all.push_back(make_dcgm());
  all.push_back(make_filesystems());
  all.push_back(make_host());
  all.push_back(make_modules());
  all.push_back(make_services());
  all.push_back(make_versions());
  all.push_back(make_prometheus());
  all.push_back(make_placement());
  all.push_back(make_environment());
  return all;
}

}  // namespace holter::formats::facts
