#include "mtuscope/stats/variance_components.hpp"

#include <algorithm>

#include "mtuscope/stats/check.hpp"
#include "mtuscope/stats/summary.hpp"

namespace mtuscope::stats {
namespace {

struct Totals {
  std::size_t groups = 0;
  double count = 0.0;
  double count_squares = 0.0;  ///< sum of n_i^2
  double grand_mean = 0.0;
};

Totals totals_of(std::span<const std::vector<double>> groups) {
  Totals totals;
  for (const std::vector<double>& group : groups) {
    require_finite(group, "variance_components");
    if (group.empty()) continue;
    const auto size = static_cast<double>(group.size());
    ++totals.groups;
    totals.count += size;
    totals.count_squares += size * size;
    totals.grand_mean += (mean(group) - totals.grand_mean) * size / totals.count;
  }
  return totals;
}

}  // namespace

std::optional<VarianceComponents> variance_components(std::span<const std::vector<double>> groups) {
  const Totals totals = totals_of(groups);
  const auto group_count = static_cast<double>(totals.groups);
  if (totals.groups < 2 || totals.count == group_count) return std::nullopt;
  double squares_between = 0.0;
  double squares_within = 0.0;
  for (const std::vector<double>& group : groups) {
    if (group.empty()) continue;
    const double centre = mean(group);
    const double offset = centre - totals.grand_mean;
    squares_between += static_cast<double>(group.size()) * offset * offset;
    for (const double value : group) squares_within += (value - centre) * (value - centre);
  }
  const double within = squares_within / (totals.count - group_count);
  const double typical_size = (totals.count - totals.count_squares / totals.count) / (group_count - 1.0);
  const double between = (squares_between / (group_count - 1.0) - within) / typical_size;
  return VarianceComponents{within, std::max(0.0, between), totals.groups};
}

}  // namespace mtuscope::stats
