// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/quantity.h"

#include <charconv>
#include <limits>

#include "base/strings.h"

namespace holter::formats::facts {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Length of a number with thousands commas ("1,965"), or 0.
std::size_t grouped_length(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && is_digit(text[i])) ++i;
  if (i == 0 || i > 3) return 0;
  std::size_t end = 0;
  while (i + 3 < text.size() && text[i] == ',' && is_digit(text[i + 1]) && is_digit(text[i + 2]) &&
         is_digit(text[i + 3]) && (i + 4 == text.size() || !is_digit(text[i + 4]))) {
    i += 4;
    end = i;
  }
  return end;
}

}  // namespace

std::optional<double> leading_number(std::string_view text, std::string_view* rest) {
  const std::size_t grouped = grouped_length(text);
  double value = 0;
  std::size_t used = 0;
  if (grouped > 0) {
    std::string plain;
    for (const char c : text.substr(0, grouped)) {
      if (c != ',') plain += c;
    }
    value = base::to_double(plain).value_or(0);
    used = grouped;
  } else {
    const bool plus = text.starts_with('+');
    if (plus) text.remove_prefix(1);
    // from_chars also takes words that start with "inf" or "nan"; only the whole words are numbers.
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    if (text.size() > sign && is_alpha(text[sign])) {
      std::size_t end = sign;
      while (end < text.size() && (is_alpha(text[end]) || text[end] == '_')) ++end;
      const auto word = base::lower(text.substr(sign, end - sign));
      if (word == "inf" || word == "infinity") value = std::numeric_limits<double>::infinity();
      else if (word == "nan") value = std::numeric_limits<double>::quiet_NaN();
      else return std::nullopt;
      if (sign != 0) value = -value;
      used = end;
    } else {
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc()) return std::nullopt;
      used = static_cast<std::size_t>(stop - text.data());
    }
  }
  text.remove_prefix(used);
  if (rest) *rest = base::trim(text);
  return value;
}

std::optional<Quantity> quantity(std::string_view text) {
  text = base::trim(text);
  if (text == "unlimited" || text == "infinity") return Quantity{std::numeric_limits<double>::infinity(), {}};
  std::string_view unit;
  const auto number = leading_number(text, &unit);
  if (!number || unit.size() > 8) return std::nullopt;
  for (const char c : unit) {
    if (!is_alpha(c) && c != '%' && c != '/' && c != '(' && c != ')') return std::nullopt;
  }
  return Quantity{*number, unit};
}

std::optional<double> bytes_per(std::string_view unit) {
  const std::string u = base::lower(unit);
  if (u == "b" || u == "byte" || u == "bytes") return 1.0;
  static constexpr std::string_view kPrefixes = "kmgtp";
  const auto at = u.empty() ? std::string_view::npos : kPrefixes.find(u[0]);
  if (at == std::string_view::npos) return std::nullopt;
  const auto tail = std::string_view(u).substr(1);
  if (!tail.empty() && tail != "b" && tail != "ib" && tail != "i" && tail != "bytes") return std::nullopt;
  double out = 1024;
  for (std::size_t i = 0; i < at; ++i) out *= 1024;
  return out;
}

std::optional<double> bytes(std::string_view text, double bare) {
  const auto q = quantity(text);
  if (!q) return std::nullopt;
  if (q->unit.empty()) return q->value * bare;
  const auto per = bytes_per(q->unit);
  if (!per) return std::nullopt;
  return q->value * *per;
}

std::string key_of(std::string_view name) {
  std::string out;
  for (char c : base::trim(name)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z') || is_digit(c)) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

}  // namespace holter::formats::facts
