// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzing: feeds a text to the stack parser line by line, as the text reader does but
// without unwrapping.
#pragma once

#include <string>
#include <string_view>

#include "formats/stacks/stack_parser.h"

namespace holter::formats::stacks::testing {

inline model::Evidence parse_text(std::string_view data, std::string path = "dump.txt", std::int32_t name_rank = -1) {
  model::Evidence out;
  out.files.push_back({.path = std::move(path), .format = "", .version = ""});
  out.files.back().name_rank = model::GlobalRank{name_rank};
  const FileContext context{model::FileId{0}, &out.files.back()};
  StackParser parser;
  std::uint64_t number = 0;
  while (!data.empty()) {
    const auto end = data.find('\n');
    text::Line line;
    line.raw = line.body = data.substr(0, end);
    line.number = ++number;
    // "3|text" stands for a line that the text reader found to be of rank 3.
    if (line.body.size() > 1 && line.body[1] == '|' && line.body[0] >= '0' && line.body[0] <= '9') {
      line.rank = model::GlobalRank{line.body[0] - '0'};
      line.body.remove_prefix(2);
    }
    parser.on_line(line, context, out);
    data.remove_prefix(end == std::string_view::npos ? data.size() : end + 1);
  }
  parser.on_end(context, out);
  return out;
}

}  // namespace holter::formats::stacks::testing
