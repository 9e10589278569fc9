// SPDX-License-Identifier: Apache-2.0
// Adds facts of one line: keeps place, node, context and rank, and never stores a secret.
#pragma once

#include <string_view>

#include "formats/reader.h"
#include "formats/text/line.h"
#include "model/evidence.h"

namespace holter::formats::facts {

// True for names whose value must not be stored: keys, tokens, passwords, credentials.
bool is_secret_name(std::string_view name);

class FactWriter {
 public:
  FactWriter(model::Evidence& out, FileContext context) : out_(out), context_(context) {}

  // Where the following facts stand. The line must live as long as facts of it are added.
  void at_line(const text::Line& line);
  void set_node(std::string_view node) { node_ = out_.intern(node); }
  void set_context(std::string_view context) { context_text_ = out_.intern(context); }
  void set_rank(model::GlobalRank rank) { rank_ = rank; }

  // The reference is valid until the next call. A value that starts with a number sets it.
  model::Fact& add(std::string_view key, std::string_view value, std::string_view subject = {});
  model::Fact& add(std::string_view key, double number, std::string_view value, std::string_view subject = {});

  model::Evidence& evidence() { return out_; }
  FileContext file() const { return context_; }
  model::SourceRef at() const { return at_; }
  std::string_view node() const { return out_.text(node_); }
  std::size_t added() const { return added_; }

 private:
  model::Evidence& out_;
  FileContext context_;
  model::SourceRef at_;
  model::StrId node_ = model::StrId::kEmpty;
  model::StrId context_text_ = model::StrId::kEmpty;
  std::string_view body_;  // of the line; interned with the first fact only
  model::GlobalRank rank_ = model::GlobalRank::kNone;
  bool masked_ = false;  // the line holds a secret and is not cited
  std::size_t added_ = 0;
};

}  // namespace holter::formats::facts
