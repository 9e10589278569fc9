// SPDX-License-Identifier: Apache-2.0
#include "analytics/table_view.h"

#include <charconv>
#include <chrono>
#include <limits>

#include "base/strings.h"

namespace holter::analytics {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::optional<double> clock_time(std::string_view text) {
  const auto parts = base::split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  double seconds = 0, unit = 3600;
  for (const auto part : parts) {
    const auto n = base::to_double(part);
    if (!n || *n < 0 || *n > 999) return std::nullopt;
    seconds += *n * unit;
    unit /= 60;
  }
  return seconds;
}

}  // namespace

std::optional<double> time_value(std::string_view text) {
  text = base::trim(text);
  if (const auto n = base::to_double(text)) return n;
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (const auto clock = clock_time(text)) return clock;
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto y = base::to_int<int>(text.substr(0, 4));
  const auto m = base::to_int<unsigned>(text.substr(5, 2));
  const auto d = base::to_int<unsigned>(text.substr(8, 2));
  if (!y || !m || !d) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*y}, std::chrono::month{*m}, std::chrono::day{*d}};
  if (!date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  const double base_s = static_cast<double>(days) * 86400;
  if (text.size() == 10) return base_s;
  const auto clock = clock_time(text.substr(11));
  return clock ? std::optional(base_s + *clock) : std::nullopt;
}

int TableView::column(std::string_view meaning) const {
  for (std::size_t c = 0; c < table_.columns.size(); ++c) {
    if (meanings_.is(meaning, evidence_.text(table_.columns[c]))) return static_cast<int>(c);
  }
  return -1;
}

std::vector<int> TableView::columns(std::string_view meaning) const {
  std::vector<int> out;
  for (std::size_t c = 0; c < table_.columns.size(); ++c) {
    if (meanings_.is(meaning, evidence_.text(table_.columns[c]))) out.push_back(static_cast<int>(c));
  }
  return out;
}

std::optional<double> TableView::number(std::size_t row, int column) const {
  auto cell = base::trim(text(row, column));
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc()) return std::nullopt;
  // "nanometre" starts like a number and is none; "75 %" and "1965 MHz" are numbers with a unit.
  const auto rest = std::string_view(stop, static_cast<std::size_t>(cell.data() + cell.size() - stop));
  if (!rest.empty() && !cell.empty() && ((cell[0] >= 'a' && cell[0] <= 'z') || (cell[0] >= 'A' && cell[0] <= 'Z')))
    return std::nullopt;
  if (rest.size() > 8 || rest.find(':') != std::string_view::npos || rest.find('-') != std::string_view::npos)
    return std::nullopt;
  return value;
}

std::vector<double> TableView::numbers(int column) const {
  std::vector<double> out;
  out.reserve(rows());
  for (std::size_t r = 0; r < rows(); ++r) out.push_back(number(r, column).value_or(kNone));
  return out;
}

std::vector<double> TableView::times(int column) const {
  std::vector<double> out;
  double day = 0;
  for (std::size_t r = 0; r < rows(); ++r) {
    auto value = time_value(text(r, column)).value_or(kNone);
    // Clock times that pass midnight.
    if (!out.empty() && text(r, column).find(':') != std::string_view::npos && value + day < out.back() &&
        value < 86400)
      day += 86400;
    out.push_back(value + day);
  }
  return out;
}

std::string TableView::row_text(std::size_t row) const {
  std::string out;
  for (std::size_t c = 0; c < table_.columns.size(); ++c)
    out += (c ? "," : "") + std::string(text(row, static_cast<int>(c)));
  return out;
}

model::SourceRef TableView::at(std::size_t row) const {
  model::SourceRef ref = table_.at;
  ref.pos = row < table_.lines.size() ? table_.lines[row] : ref.pos;
  return ref;
}

}  // namespace holter::analytics
