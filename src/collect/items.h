// SPDX-License-Identifier: Apache-2.0
// What is taken of a host, as data: rules/collect.csv.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/rules.h"

namespace holter::collect {

struct Take {
  std::string file;
  std::chrono::milliseconds deadline{0};
  std::size_t max_bytes = 0;
  std::vector<std::string> command;  // empty: `files`
  std::vector<std::string> files;    // glob patterns, absolute
  std::string text() const;          // as in the table, for --dry-run
};

// Rows of one name are alternatives: the first that works is taken.
struct Item {
  std::string name;
  std::vector<Take> takes;
};

// In the order of the table. An error names the row.
base::Result<std::vector<Item>> host_items(const model::Rules& rules);

}  // namespace holter::collect
