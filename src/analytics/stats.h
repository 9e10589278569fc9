// SPDX-License-Identifier: Apache-2.0
// Robust statistics over small samples. Empty input gives 0; values that are not finite are skipped.
#pragma once

#include <span>
#include <vector>

namespace holter::analytics {

double median(std::vector<double> values);
// Median absolute deviation, scaled to the standard deviation of a normal distribution.
double spread(std::span<const double> values);
double quantile(std::vector<double> values, double q);

// A line through (x, y) by least squares, and how the series ends.
struct Trend {
  std::size_t n = 0;
  double slope = 0;  // y per x
  double r2 = 0;     // 0..1
  double first = 0, last = 0, lowest = 0, highest = 0;
  double late_slope = 0;  // of the last third
  double growth() const { return last - first; }
};
Trend trend(std::span<const double> x, std::span<const double> y);

// Grew and then stopped: the last third is flat against the growth of the whole.
bool is_plateau(const Trend& t);
// Grows to the end, steadily.
bool is_steady_growth(const Trend& t, double min_relative_growth);

}  // namespace holter::analytics
