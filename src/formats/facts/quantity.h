// SPDX-License-Identifier: Apache-2.0
// Numbers with units as tools print them: "8192", "unlimited", "64M", "33.71 GiB", "1965 MHz", "38%".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holter::formats::facts {

struct Quantity {
  double value = 0;       // infinity for "unlimited"
  std::string_view unit;  // "GiB", "%", "MHz", "x"; a view into the text
};

// The text up to its end is one number with at most one unit of a few letters; else nothing.
std::optional<Quantity> quantity(std::string_view text);
// The number at the start of the text; `rest` receives what follows it, blanks skipped.
std::optional<double> leading_number(std::string_view text, std::string_view* rest = nullptr);
// Bytes of one unit: "k", "kB", "KiB" 1024, ... Nothing for other units. Tools mix powers of ten and
// two under one name; binary is what df, ulimit, /proc and PyTorch mean.
std::optional<double> bytes_per(std::string_view unit);
// "64M" -> 67108864; a bare number is taken times `bare`.
std::optional<double> bytes(std::string_view text, double bare = 1);

// A name in the form of fact keys: lower case, runs of other characters become one '_'.
std::string key_of(std::string_view name);

}  // namespace holter::formats::facts
