// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/table_reader.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "base/strings.h"
#include "formats/facts/quantity.h"
#include "formats/facts/whole_text.h"

namespace holter::formats::facts {

namespace {

constexpr std::size_t kMaxCells = 20'000'000;
constexpr std::size_t kMaxColumns = 1024;
constexpr std::size_t kMaxCellText = 400;
constexpr char kBlank = ' ';

using Cells = std::vector<std::string_view>;

// Fields of one line; quotes protect separators and are removed.
Cells cells_of(std::string_view line, char separator) {
  if (separator == kBlank) return base::split_blanks(line);
  Cells out;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (quoted || line[i] != separator)) continue;
    auto cell = base::trim(line.substr(begin, i - begin));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
    out.push_back(cell);
    begin = i + 1;
  }
  // "| a | b |": the outer bars enclose.
  if (separator == '|' && out.size() > 2 && out.front().empty() && out.back().empty()) {
    out.erase(out.begin());
    out.pop_back();
  }
  return out;
}

bool is_column_name(std::string_view cell) {
  if (cell.empty() || cell.size() > 64) return false;
  const char first = cell[0];
  if (!((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_' || first == '%')) return false;
  return cell.find_first_of("{}\"=<>;") == std::string_view::npos && std::count(cell.begin(), cell.end(), ' ') <= 4;
}

bool is_rule(std::string_view line) { return line.find_first_not_of("-+=|: ") == std::string_view::npos; }

// Header text without the '#' of dmon and of commented headers.
std::string_view header_text(std::string_view line) {
  return line.starts_with('#') ? base::trim(line.substr(1)) : line;
}

struct Shape {
  char separator = 0;
  std::size_t header = 0;  // index among the lines
};

bool numeric_share(const std::vector<Cells>& rows, std::size_t columns, bool all) {
  for (std::size_t c = 0; c < columns; ++c) {
    const auto numbers =
        std::count_if(rows.begin(), rows.end(), [&](const Cells& r) { return quantity(r[c]).has_value(); });
    if (all ? static_cast<std::size_t>(numbers) == rows.size() : static_cast<std::size_t>(numbers) * 2 >= rows.size())
      return true;
  }
  return false;
}

// Does a table with this separator start at lines[0]? All lines up to the first empty one must agree.
bool fits(const Cells& lines, char separator, bool named_table) {
  if (lines.empty()) return false;
  const auto head = cells_of(header_text(lines[0]), separator);
  if (head.size() < 2 || head.size() > kMaxColumns || !std::all_of(head.begin(), head.end(), is_column_name))
    return false;
  std::vector<Cells> rows;
  for (std::size_t i = 1; i < lines.size() && !lines[i].empty(); ++i) {
    if (lines[i].starts_with('#') || is_rule(lines[i])) continue;
    rows.push_back(cells_of(lines[i], separator));
    if (rows.back().size() != head.size()) return false;
  }
  if (separator == kBlank) return rows.size() >= 2 && head.size() >= 2 && numeric_share(rows, head.size(), true);
  return !rows.empty() && (named_table || numeric_share(rows, head.size(), false));
}

Cells head_lines(std::string_view head, std::size_t limit) {
  Cells lines;
  const bool whole = head.size() < 64 * 1024;
  while (!head.empty() && lines.size() < limit) {
    const auto end = head.find('\n');
    if (end == std::string_view::npos && !whole) break;  // cut in the middle
    auto line = base::trim(head.substr(0, end));
    if (!line.empty() || !lines.empty()) lines.push_back(line);
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return lines;
}

char separator_of(std::string_view head, bool named_table) {
  const auto lines = head_lines(head, 50);
  for (const char separator : std::array<char, 5>{',', '\t', ';', '|', kBlank}) {
    if (fits(lines, separator, named_table)) return separator;
  }
  return 0;
}

bool has_table_name(std::string_view path) {
  for (const std::string_view ending : {".csv", ".tsv", ".csv.gz", ".csv.zst", ".csv.xz"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

class Tables {
 public:
  Tables(FileContext context, model::Evidence& out) : context_(context), out_(out) {}

  void line(std::string_view text, std::uint64_t number) {
    if (text.empty()) {
      gap_ = true;
      return;
    }
    if (is_rule(text) || (table_ && text.starts_with('#'))) return;
    const model::SourceRef at{context_.id, model::PosKind::kLine, number};
    if (!table_ || (gap_ && is_header(text))) {
      start(text, at);
      return;
    }
    gap_ = false;
    row(cells_of(text, separator_), at);
  }

  void start_with(char separator) { separator_ = separator; }
  std::size_t rows() const { return rows_; }

 private:
  bool is_header(std::string_view text) const {
    const auto cells = cells_of(header_text(text), separator_);
    return cells.size() >= 2 && cells.size() <= kMaxColumns && std::all_of(cells.begin(), cells.end(), is_column_name);
  }

  void start(std::string_view text, model::SourceRef at) {
    gap_ = false;
    model::Table t;
    t.at = at;
    for (const auto cell : cells_of(header_text(text), separator_))
      t.columns.push_back(out_.intern(base::ellipsize(cell, kMaxCellText)));
    if (t.columns.size() > kMaxColumns) t.columns.resize(kMaxColumns);
    out_.tables.push_back(std::move(t));
    table_ = true;
  }

  void row(const Cells& cells, model::SourceRef at) {
    auto& t = out_.tables.back();
    if (cells.size() != t.columns.size()) {
      out_.add_problem(at, "a row with another number of fields than the header");
      return;
    }
    if (cells_ + cells.size() > kMaxCells) {
      out_.add_problem(at, "more cells than are kept of one file");
      return;
    }
    cells_ += cells.size();
    ++rows_;
    auto& kept = t.rows.emplace_back();
    for (const auto cell : cells) kept.push_back(out_.intern(base::ellipsize(cell, kMaxCellText)));
    t.lines.push_back(at.pos);
  }

  FileContext context_;
  model::Evidence& out_;
  char separator_ = ',';
  bool table_ = false, gap_ = false;
  std::size_t rows_ = 0, cells_ = 0;
};

}  // namespace

int TableReader::probe(const model::SourceFile& file, std::string_view head) const {
  if (head.find('\0') != std::string_view::npos) return 0;
  const bool named = has_table_name(file.path);
  const char separator = separator_of(head, named);
  if (separator == 0) return 0;
  return named ? 75 : separator == kBlank ? 50 : 60;
}

void TableReader::read(ByteSource& source, FileContext context, model::Evidence& out) const {
  const auto text = whole_text(source, context, out, std::size_t{512} << 20);
  const std::string_view all(text);
  const bool named = context.file && has_table_name(context.file->path);
  const char separator = separator_of(all.substr(0, 64 * 1024), named);
  Tables tables(context, out);
  tables.start_with(separator == 0 ? ',' : separator);
  const auto before = out.tables.size();
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < all.size();) {
    const auto end = std::min(all.find('\n', at), all.size());
    tables.line(base::trim(all.substr(at, end - at)), ++number);
    at = end + 1;
  }
  if (!context.file) return;
  context.file->lines = number;
  context.file->counts["tables"] = out.tables.size() - before;
  context.file->counts["rows"] = tables.rows();
}

}  // namespace holter::formats::facts
