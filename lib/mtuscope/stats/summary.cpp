#include "mtuscope/stats/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "mtuscope/stats/check.hpp"
#include "mtuscope/stats/distributions.hpp"

namespace mtuscope::stats {
namespace {

void require_values(std::span<const double> values, const char* function) {
  if (values.empty()) throw std::invalid_argument(std::string(function) + ": no values");
  require_finite(values, function);
}

/// Coverage of [x(k), x(n + 1 - k)], k counted from 1.
double order_statistic_coverage(std::size_t count, std::size_t rank) {
  return 1.0 - 2.0 * binomial_cdf(rank - 1, count, 0.5);
}

/// Largest rank whose interval reaches the coverage; rank 1 must reach it.
std::size_t innermost_rank(std::size_t count, double coverage) {
  std::size_t good = 1;
  std::size_t bad = count / 2 + 1;
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (order_statistic_coverage(count, middle) >= coverage ? good : bad) = middle;
  }
  return good;
}

}  // namespace

double median(std::span<const double> values) {
  require_values(values, "median");
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(copy.begin(), middle), *middle);
}

double mean(std::span<const double> values) {
  require_values(values, "mean");
  // The running form neither overflows for large values nor loses digits over many of them.
  double result = 0.0;
  double count = 0.0;
  for (const double value : values) result += (value - result) / ++count;
  return result;
}

std::optional<double> sample_standard_deviation(std::span<const double> values) {
  require_finite(values, "sample_standard_deviation");
  if (values.size() < 2) return std::nullopt;
  // Two passes: the textbook's sum of squares loses all digits when the spread is small beside the mean.
  const double centre = mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<double> coefficient_of_variation(std::span<const double> values) {
  const std::optional<double> deviation = sample_standard_deviation(values);
  if (!deviation) return std::nullopt;
  const double centre = mean(values);
  if (centre == 0.0) return std::nullopt;
  return *deviation / std::abs(centre);
}

bool median_interval_exists(std::size_t value_count, double coverage) {
  require_coverage(coverage, "median_interval_exists");
  return value_count >= 2 && order_statistic_coverage(value_count, 1) >= coverage;
}

std::optional<Interval> median_interval(std::span<const double> values, double coverage) {
  require_finite(values, "median_interval");
  require_coverage(coverage, "median_interval");
  if (!median_interval_exists(values.size(), coverage)) return std::nullopt;
  const std::size_t rank = innermost_rank(values.size(), coverage);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[rank - 1], sorted[sorted.size() - rank], order_statistic_coverage(values.size(), rank)};
}

double relative_interval_width(const Interval& interval, double centre) {
  require_finite(std::array{interval.low, interval.high, centre}, "relative_interval_width");
  const double width = interval.high - interval.low;
  if (width == 0.0) return 0.0;
  if (centre == 0.0) return std::numeric_limits<double>::infinity();
  return width / std::abs(centre);
}

}  // namespace mtuscope::stats
