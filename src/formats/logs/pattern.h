// SPDX-License-Identifier: Apache-2.0
// RE2 patterns as this folder uses them: bytes, not UTF-8 (logs hold both), and no output on error.
#pragma once

#include <optional>
#include <string_view>

#include <re2/re2.h>

#include "formats/text/line.h"

namespace holter::formats::logs {

re2::RE2::Options pattern_options();

// A pattern with up to eight captures, matched anywhere in a text. Equal patterns are compiled once in
// a program, so that parsers, which serve one file each, are cheap to make.
class Pattern {
 public:
  explicit Pattern(std::string_view pattern);
  bool match(std::string_view text);
  // Capture i (from 0) of the last match; empty when it took no part.
  std::string_view operator[](int i) const;
  std::int64_t number(int i, std::int64_t otherwise = -1) const;

 private:
  static constexpr int kMaxCaptures = 9;
  const re2::RE2& re_;
  re2::StringPiece groups_[kMaxCaptures];
};

// Adds a field when the value is not empty.
void add_field(model::Event& event, model::Evidence& out, std::string_view key, std::string_view value);

}  // namespace holter::formats::logs
