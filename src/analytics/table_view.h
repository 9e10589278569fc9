// SPDX-License-Identifier: Apache-2.0
// A table read by meaning: view.column("step"), view.number(row, column).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/columns.h"
#include "model/evidence.h"

namespace holter::analytics {

class TableView {
 public:
  TableView(const model::Evidence& evidence, const model::Table& table, const ColumnMeanings& meanings)
      : evidence_(evidence), table_(table), meanings_(meanings) {}

  std::size_t rows() const { return table_.rows.size(); }
  const model::Table& table() const { return table_; }
  // The first column with this meaning, or -1; all of them.
  int column(std::string_view meaning) const;
  std::vector<int> columns(std::string_view meaning) const;
  std::string_view name(int column) const { return evidence_.text(table_.columns[static_cast<std::size_t>(column)]); }
  std::string_view text(std::size_t row, int column) const {
    return evidence_.text(table_.rows[row][static_cast<std::size_t>(column)]);
  }
  // The number at the start of the cell; nan and inf count as numbers.
  std::optional<double> number(std::size_t row, int column) const;
  // NaN where a cell holds no number.
  std::vector<double> numbers(int column) const;
  // Clock times and dates count as seconds ("09:03" 32580), numbers as they are.
  std::vector<double> times(int column) const;
  std::string row_text(std::size_t row) const;
  model::SourceRef at(std::size_t row) const;

 private:
  const model::Evidence& evidence_;
  const model::Table& table_;
  const ColumnMeanings& meanings_;
};

// "09:03", "09:03:12", "2026-03-01 09:03:12", "2026-03-01T09:03:12Z" as seconds; numbers as they are.
std::optional<double> time_value(std::string_view text);

}  // namespace holter::analytics
