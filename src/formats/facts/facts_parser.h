// SPDX-License-Identifier: Apache-2.0
// Facts out of text: command output pasted into files, alone or several after each other, with or
// without host prefixes, and small files of notes.
//
// Bounded: a file whose lines are not recognised is given up after some hundreds of them and then only
// lines with a trigger are looked at; facts of one file are limited in number.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/text/line.h"

namespace holter::formats::facts {

class FactWriter;

class FactsParser final : public text::LineParser {
 public:
  FactsParser();
  ~FactsParser() override;

  std::vector<std::string_view> triggers() const override;
  bool wants_all() const override { return wants_all_; }
  void on_line(const text::Line& line, FileContext context, model::Evidence& out) override;
  void on_end(FileContext context, model::Evidence& out) override;

 private:
  struct State;
  // A line kept until the file is known to be a file of notes.
  struct Note {
    std::string text;
    std::uint64_t number;
    model::StrId node;
  };
  bool recognise(const text::Line& line, FileContext context, model::Evidence& out);
  void phrase(const text::Line& line, FactWriter& facts);
  static void place_environment(FileContext context, model::Evidence& out);
  void judge(const text::Line& line, bool recognised);

  std::unique_ptr<State> state_;
  std::vector<Note> notes_;
  std::string section_node_;
  std::map<std::string_view, std::size_t> phrases_seen_;  // keys are literals
  bool wants_all_ = true;
  bool maybe_notes_ = true;  // nothing says yet that it is a log, a stack or a trace
  std::size_t lines_ = 0, recognised_ = 0, facts_ = 0;
};

std::unique_ptr<text::LineParser> make_facts_parser();

}  // namespace holter::formats::facts
