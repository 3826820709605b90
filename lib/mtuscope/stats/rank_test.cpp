#include "mtuscope/stats/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "mtuscope/stats/check.hpp"
#include "mtuscope/stats/distributions.hpp"

namespace mtuscope::stats {
namespace {

struct PooledRanks {
  /// Twice the midranks, so that ties stay whole numbers, in ascending order.
  std::vector<std::size_t> doubled_ranks;
  std::size_t first_doubled_sum = 0;  ///< over the first sample
  double tie_term = 0.0;              ///< sum of t^3 - t over groups of t tied values
};

struct Labelled {
  double value;
  bool first;
};

std::vector<Labelled> pool(std::span<const double> first, std::span<const double> second) {
  std::vector<Labelled> pooled;
  pooled.reserve(first.size() + second.size());
  for (const double value : first) pooled.push_back({value, true});
  for (const double value : second) pooled.push_back({value, false});
  std::sort(pooled.begin(), pooled.end(), [](const Labelled& a, const Labelled& b) { return a.value < b.value; });
  return pooled;
}

PooledRanks rank(std::span<const double> first, std::span<const double> second) {
  const std::vector<Labelled> pooled = pool(first, second);
  PooledRanks ranks;
  for (std::size_t begin = 0; begin < pooled.size();) {
    std::size_t end = begin;
    std::size_t firsts = 0;
    for (; end < pooled.size() && pooled[end].value == pooled[begin].value; ++end) firsts += pooled[end].first ? 1 : 0;
    const std::size_t doubled_rank = begin + 1 + end;  // twice the mean of ranks begin + 1 .. end
    const auto tied = static_cast<double>(end - begin);
    ranks.doubled_ranks.insert(ranks.doubled_ranks.end(), end - begin, doubled_rank);
    ranks.first_doubled_sum += firsts * doubled_rank;
    ranks.tie_term += tied * tied * tied - tied;
    begin = end;
  }
  return ranks;
}

/// ways[s] = number of ways to choose `chosen` of the ranks with (doubled) sum s.
std::vector<double> subset_sum_counts(const std::vector<std::size_t>& doubled_ranks, std::size_t chosen) {
  const std::size_t largest_sum = std::accumulate(doubled_ranks.begin(), doubled_ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(largest_sum + 1, 0.0));
  ways[0][0] = 1.0;
  for (const std::size_t value : doubled_ranks) {
    for (std::size_t size = chosen; size > 0; --size) {
      // A subset takes each rank once because larger subsets are extended before the smaller ones they grow from.
      std::transform(ways[size - 1].begin(), ways[size - 1].end() - static_cast<std::ptrdiff_t>(value),
                     ways[size].begin() + static_cast<std::ptrdiff_t>(value),
                     ways[size].begin() + static_cast<std::ptrdiff_t>(value), std::plus<>());
    }
  }
  return std::move(ways[chosen]);
}

double exact_p_value(const PooledRanks& ranks, std::size_t first_size) {
  const std::vector<double> ways = subset_sum_counts(ranks.doubled_ranks, first_size);
  const auto centre = static_cast<std::int64_t>(first_size * (ranks.doubled_ranks.size() + 1));
  const std::int64_t seen = std::abs(static_cast<std::int64_t>(ranks.first_doubled_sum) - centre);
  double extreme = 0.0;
  double total = 0.0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    total += ways[sum];
    if (std::abs(static_cast<std::int64_t>(sum) - centre) >= seen) extreme += ways[sum];
  }
  return extreme / total;
}

double normal_p_value(double distance, double pair_count, double value_count, double tie_term) {
  const double variance = pair_count / 12.0 * (value_count + 1.0 - tie_term / (value_count * (value_count - 1.0)));
  if (variance <= 0.0) return 1.0;  // all values tied
  constexpr double kContinuity = 0.5;
  const double z = std::max(0.0, distance - kContinuity) / std::sqrt(variance);
  return 2.0 * normal_cdf(-z);
}

}  // namespace

RankTest mann_whitney(std::span<const double> first, std::span<const double> second) {
  if (first.empty() || second.empty()) throw std::invalid_argument("mann_whitney: a sample has no values");
  require_finite(first, "mann_whitney");
  require_finite(second, "mann_whitney");
  const PooledRanks ranks = rank(first, second);
  const auto first_size = static_cast<double>(first.size());
  const double pair_count = first_size * static_cast<double>(second.size());
  RankTest result;
  result.u = static_cast<double>(ranks.first_doubled_sum) / 2.0 - first_size * (first_size + 1.0) / 2.0;
  result.exact = ranks.doubled_ranks.size() <= kExactRankTestMaximumValues;
  result.p_value = result.exact ? exact_p_value(ranks, first.size())
                                : normal_p_value(std::abs(result.u - pair_count / 2.0), pair_count,
                                                 static_cast<double>(ranks.doubled_ranks.size()), ranks.tie_term);
  return result;
}

std::vector<double> holm_adjust(std::span<const double> p_values) {
  for (std::size_t i = 0; i < p_values.size(); ++i) {
    if (p_values[i] >= 0.0 && p_values[i] <= 1.0) continue;
    throw std::invalid_argument("holm_adjust: p-value " + std::to_string(i) + " is " + std::to_string(p_values[i]) +
                                ", outside 0 to 1");
  }
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0.0;
  for (std::size_t step = 0; step < order.size(); ++step) {
    const auto remaining = static_cast<double>(order.size() - step);
    largest = std::max(largest, std::min(1.0, remaining * p_values[order[step]]));
    adjusted[order[step]] = largest;
  }
  return adjusted;
}

}  // namespace mtuscope::stats
