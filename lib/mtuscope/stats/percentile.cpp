#include "mtuscope/stats/percentile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "mtuscope/stats/check.hpp"

namespace mtuscope::stats {
namespace {

// 0.07 x 100 and 100 x (1 - 0.9) miss the integer they stand for by a few last bits; that must not move a rank.
constexpr double kRounding = 1e-12;

}  // namespace

bool percentile_supported(std::uint64_t sample_count, double quantile) {
  if (!(quantile > 0.0 && quantile < 1.0)) {
    throw std::invalid_argument("percentile_supported: quantile must be between 0 and 1; p99 is 0.99");
  }
  const double beyond = static_cast<double>(sample_count) * std::min(quantile, 1.0 - quantile);
  return beyond >= kMinimumSamplesBeyondPercentile * (1.0 - kRounding);
}

double percentile(std::span<const double> sorted_samples, double quantile) {
  if (sorted_samples.empty()) throw std::invalid_argument("percentile: no samples");
  if (!(quantile >= 0.0 && quantile <= 1.0)) {
    throw std::invalid_argument("percentile: quantile must be from 0 to 1; p99 is 0.99");
  }
  require_finite(sorted_samples, "percentile");
  if (!std::is_sorted(sorted_samples.begin(), sorted_samples.end())) {
    throw std::invalid_argument("percentile: samples are not in ascending order; sort them first");
  }
  const double rank = std::ceil(quantile * static_cast<double>(sorted_samples.size()) * (1.0 - kRounding));
  return sorted_samples[rank < 1.0 ? 0 : static_cast<std::size_t>(rank) - 1];
}

}  // namespace mtuscope::stats
