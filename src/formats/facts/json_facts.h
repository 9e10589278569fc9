// SPDX-License-Identifier: Apache-2.0
// Turns a stream of JSON events into facts and tables, iteratively and bounded.
//
// Scalars of objects become facts config.<dotted.key>; a list of scalars is one fact with the joined
// text; objects in a list become rows of a table, as do the second and later documents of a stream
// (JSON lines) together with the first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/reader.h"
#include "model/evidence.h"

namespace holter::formats::facts {

class JsonFacts {
 public:
  JsonFacts(model::Evidence& out, FileContext context) : out_(out), context_(context) {}

  void document(std::size_t index);
  void key(std::string_view name) { key_ = name; }
  bool start(bool array, std::uint64_t line);  // false: nested too deep
  bool end();
  bool scalar(std::string_view value, std::uint64_t line, std::string_view verbatim);
  void abandon();  // after a parse error
  void finish();
  std::size_t facts() const { return facts_; }

 private:
  struct Level {
    bool array;
    std::string path;    // dotted, of this value
    std::string joined;  // of a list of scalars
    std::size_t scalars = 0;
    bool row = false;  // an object that is a row
    std::uint64_t line = 0;
  };
  struct Draft {  // of a table
    std::vector<model::StrId> columns;
    std::map<std::string, std::size_t, std::less<>> index;
    std::vector<std::vector<std::pair<std::size_t, model::StrId>>> rows;
    std::vector<std::uint64_t> lines;
  };
  std::string path_of(std::string_view name) const;
  void add(const std::string& path, std::string_view value, std::uint64_t line, std::string_view verbatim);
  void cell(const std::string& path, std::string_view value);
  void flush(Draft& draft);

  model::Evidence& out_;
  FileContext context_;
  std::string key_;
  std::vector<Level> levels_;
  std::map<std::string, Draft> drafts_;  // by path of the list
  Draft* open_ = nullptr;                // the table whose row is being filled
  std::size_t row_level_ = 0;            // depth of that row's object
  std::size_t row_prefix_ = 0;           // length of its path
  bool lines_ = false;                   // more than one document
  struct Held {
    std::string path, value, verbatim;
    std::uint64_t line;
  };
  std::vector<Held> first_;  // facts of the first document, until a second one comes
  std::size_t facts_ = 0, cells_ = 0;
};

}  // namespace holter::formats::facts
