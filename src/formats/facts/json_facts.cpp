// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/json_facts.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "formats/facts/fact_writer.h"
#include "formats/facts/quantity.h"

namespace holter::formats::facts {

namespace {
constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxFacts = 50'000;
constexpr std::size_t kMaxCells = 5'000'000;
constexpr std::size_t kMaxColumns = 512;
constexpr std::size_t kMaxJoined = 1000;
constexpr std::size_t kMaxCellText = 400;
}  // namespace

void JsonFacts::document(std::size_t index) {
  if (index == 1 && !lines_) {
    // The first document was the first line of JSON lines: its facts become a row.
    lines_ = true;
    auto& draft = drafts_[""];
    draft.rows.emplace_back();
    draft.lines.push_back(first_.empty() ? 1 : first_.front().line);
    open_ = &draft;
    row_prefix_ = 0;
    for (const auto& held : first_) cell(held.path, held.value);
    open_ = nullptr;
    first_.clear();
  }
  key_.clear();
}

std::string JsonFacts::path_of(std::string_view name) const {
  if (levels_.empty()) return std::string();
  const auto& parent = levels_.back();
  if (parent.array || name.empty()) return parent.path;
  return parent.path.empty() ? std::string(name) : parent.path + "." + std::string(name);
}

bool JsonFacts::start(bool array, std::uint64_t line) {
  if (levels_.size() >= kMaxDepth) return false;
  Level level{array, path_of(key_), {}, 0, false, line};
  const bool in_list = !levels_.empty() && levels_.back().array;
  const bool line_row = levels_.empty() && lines_;
  if (!array && !open_ && (in_list || line_row)) {
    level.row = true;
    open_ = &drafts_[level.path];
    open_->rows.emplace_back();
    open_->lines.push_back(line);
    row_level_ = levels_.size();
    row_prefix_ = level.path.size();
  }
  levels_.push_back(std::move(level));
  key_.clear();
  return true;
}

bool JsonFacts::end() {
  if (levels_.empty()) return false;
  const Level level = std::move(levels_.back());
  levels_.pop_back();
  if (level.array && level.scalars > 0) {
    const auto text = fmt::format("[{}]", level.joined);
    if (open_) cell(level.path, text);
    else add(level.path, text, level.line, text);
  }
  if (level.row) open_ = nullptr;
  key_.clear();
  return true;
}

bool JsonFacts::scalar(std::string_view value, std::uint64_t line, std::string_view verbatim) {
  if (!levels_.empty() && levels_.back().array) {
    auto& list = levels_.back();
    ++list.scalars;
    if (list.joined.size() < kMaxJoined)
      list.joined += (list.scalars > 1 ? ", " : "") + std::string(value.substr(0, kMaxCellText));
    return true;
  }
  const auto path = path_of(key_);
  if (open_) cell(path, value);
  else add(path, value, line, verbatim);
  key_.clear();
  return true;
}

void JsonFacts::add(const std::string& path, std::string_view value, std::uint64_t line, std::string_view verbatim) {
  if (first_.size() + facts_ >= kMaxFacts) {
    out_.add_problem({context_.id, model::PosKind::kLine, line}, "more facts than are kept of one file");
    return;
  }
  first_.push_back({path, std::string(value.substr(0, kMaxJoined)), std::string(verbatim), line});
}

void JsonFacts::cell(const std::string& path, std::string_view value) {
  auto name = std::string_view(path).substr(std::min(row_prefix_, path.size()));
  if (name.starts_with('.')) name.remove_prefix(1);
  if (name.empty()) name = "value";
  auto at = open_->index.find(name);
  if (at == open_->index.end()) {
    if (open_->columns.size() >= kMaxColumns) return;
    at = open_->index.emplace(std::string(name), open_->columns.size()).first;
    open_->columns.push_back(out_.intern(base::ellipsize(name, kMaxCellText)));
  }
  if (++cells_ > kMaxCells) return;
  const auto text = is_secret_name(name) ? std::string("(masked)") : base::ellipsize(value, kMaxCellText);
  open_->rows.back().emplace_back(at->second, out_.intern(text));
}

void JsonFacts::abandon() {
  levels_.clear();
  open_ = nullptr;
}

void JsonFacts::flush(Draft& draft) {
  if (draft.columns.empty()) return;
  model::Table table;
  table.at = {context_.id, model::PosKind::kLine, draft.lines.empty() ? 1 : draft.lines.front()};
  table.columns = draft.columns;
  for (std::size_t r = 0; r < draft.rows.size(); ++r) {
    auto& row = table.rows.emplace_back(draft.columns.size(), model::StrId::kEmpty);
    for (const auto& [column, value] : draft.rows[r]) row[column] = value;
    table.lines.push_back(draft.lines[r]);
  }
  out_.tables.push_back(std::move(table));
}

void JsonFacts::finish() {
  FactWriter writer(out_, context_);
  for (const auto& held : first_) {
    text::Line line;
    line.raw = line.body = held.verbatim;
    line.number = held.line;
    writer.at_line(line);
    writer.add("config." + held.path, held.value);
  }
  facts_ += first_.size();
  first_.clear();
  if (cells_ > kMaxCells)
    out_.add_problem({context_.id, model::PosKind::kNone, 0}, "more cells than are kept of one file");
  for (auto& [path, draft] : drafts_) flush(draft);
  drafts_.clear();
}

}  // namespace holter::formats::facts
