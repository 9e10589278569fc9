// SPDX-License-Identifier: Apache-2.0
#include "analytics/stats.h"

#include <algorithm>
#include <cmath>

namespace holter::analytics {

double quantile(std::vector<double> values, double q) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double spread(std::span<const double> values) {
  const double middle = median({values.begin(), values.end()});
  std::vector<double> away;
  for (const double v : values) away.push_back(std::abs(v - middle));
  return 1.4826 * median(std::move(away));
}

namespace {

struct Line {
  double slope = 0, r2 = 0;
};

Line fit(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  if (x.size() < 2) return {};
  double mx = 0, my = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mx += x[i] / n, my += y[i] / n;
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  if (xx <= 0) return {};
  return {xy / xx, yy > 0 ? xy * xy / (xx * yy) : 0};
}

}  // namespace

Trend trend(std::span<const double> x_all, std::span<const double> y_all) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < std::min(x_all.size(), y_all.size()); ++i) {
    if (!std::isfinite(x_all[i]) || !std::isfinite(y_all[i])) continue;
    x.push_back(x_all[i]);
    y.push_back(y_all[i]);
  }
  Trend t;
  t.n = x.size();
  if (x.empty()) return t;
  const auto line = fit(x, y);
  t.slope = line.slope;
  t.r2 = line.r2;
  t.first = y.front();
  t.last = y.back();
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  t.lowest = *low;
  t.highest = *high;
  const std::size_t from = x.size() >= 3 ? x.size() - std::max<std::size_t>(2, x.size() / 3) : 0;
  t.late_slope = fit(std::span(x).subspan(from), std::span(y).subspan(from)).slope;
  return t;
}

bool is_plateau(const Trend& t) { return t.n >= 5 && t.growth() > 0 && t.slope > 0 && t.late_slope < 0.12 * t.slope; }

bool is_steady_growth(const Trend& t, double min_relative_growth) {
  return t.n >= 4 && t.slope > 0 && t.r2 >= 0.8 &&
         t.growth() >= min_relative_growth * std::max(std::abs(t.first), 1e-9) && t.late_slope >= 0.4 * t.slope;
}

}  // namespace holter::analytics
