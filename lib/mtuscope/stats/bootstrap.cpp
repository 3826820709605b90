#include "mtuscope/stats/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "mtuscope/core/random.hpp"
#include "mtuscope/stats/check.hpp"

namespace mtuscope::stats {
namespace {

// (9999 + 1) x (1 - 0.95) / 2 misses 250 by a few last bits; that must not move a rank.
constexpr double kRankRounding = 1e-9;

using Arrangements = std::span<const std::vector<double>>;

/// Rank (from 1) of the lower end among `resamples` sorted replicates.
std::size_t lower_rank(const BootstrapSettings& settings, const char* function) {
  require_coverage(settings.coverage, function);
  const double tail = (1.0 - settings.coverage) / 2.0;
  const double rank = std::floor((static_cast<double>(settings.resamples) + 1.0) * tail + kRankRounding);
  if (rank >= 1.0) return static_cast<std::size_t>(rank);
  const auto needed = static_cast<std::size_t>(std::ceil(1.0 / tail - kRankRounding)) - 1;
  throw std::invalid_argument(std::string(function) + ": " + std::to_string(settings.resamples) +
                              " resamples are too few for the coverage; at least " + std::to_string(needed) +
                              " are needed");
}

void require_positive(std::span<const double> values, const char* function) {
  require_finite(values, function);
  if (std::all_of(values.begin(), values.end(), [](double value) { return value > 0.0; })) return;
  throw std::invalid_argument(std::string(function) + ": a value is not positive, so a ratio has no meaning");
}

/// Median of a scratch copy that may be reordered; at least one value. Inputs were checked once, before the loop.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

void append_resample(std::span<const double> values, SplitMix64& random, std::vector<double>& drawn) {
  for (std::size_t i = 0; i < values.size(); ++i) drawn.push_back(values[random.below(values.size())]);
}

/// Draws the median of one resample; keeps its scratch memory between draws.
class FlatDraw {
 public:
  explicit FlatDraw(std::span<const double> values) : values_(values) {}
  double operator()(SplitMix64& random) {
    drawn_.clear();
    append_resample(values_, random, drawn_);
    return median_in_place(drawn_);
  }

 private:
  std::span<const double> values_;
  std::vector<double> drawn_;
};

class ClusterDraw {
 public:
  explicit ClusterDraw(Arrangements arrangements) {
    for (const std::vector<double>& arrangement : arrangements) {
      if (!arrangement.empty()) arrangements_.emplace_back(arrangement);
    }
  }
  [[nodiscard]] bool supported() const { return arrangements_.size() >= kMinimumArrangements; }
  double operator()(SplitMix64& random) {
    drawn_.clear();
    for (std::size_t i = 0; i < arrangements_.size(); ++i) {
      append_resample(arrangements_[random.below(arrangements_.size())], random, drawn_);
    }
    return median_in_place(drawn_);
  }

 private:
  std::vector<std::span<const double>> arrangements_;
  std::vector<double> drawn_;
};

/// Percentile interval of `statistic`, drawn settings.resamples times.
template <class Statistic>
Interval percentile_interval(Statistic statistic, std::size_t rank, const BootstrapSettings& settings) {
  SplitMix64 random(settings.seed);
  std::vector<double> replicates(settings.resamples);
  for (double& replicate : replicates) replicate = statistic(random);
  std::sort(replicates.begin(), replicates.end());
  return Interval{replicates[rank - 1], replicates[settings.resamples - rank], settings.coverage};
}

template <class Draw>
Interval ratio_interval(Draw numerator, Draw denominator, std::size_t rank, const BootstrapSettings& settings) {
  const auto ratio = [&](SplitMix64& random) {
    const double above = numerator(random);
    return above / denominator(random);
  };
  return percentile_interval(ratio, rank, settings);
}

}  // namespace

std::optional<Interval> bootstrap_median(std::span<const double> values, const BootstrapSettings& settings) {
  require_finite(values, "bootstrap_median");
  const std::size_t rank = lower_rank(settings, "bootstrap_median");
  if (!median_interval_exists(values.size(), settings.coverage)) return std::nullopt;
  return percentile_interval(FlatDraw(values), rank, settings);
}

std::optional<Interval> bootstrap_median_ratio(std::span<const double> numerator, std::span<const double> denominator,
                                               const BootstrapSettings& settings) {
  for (const std::span<const double> sample : {numerator, denominator}) {
    require_positive(sample, "bootstrap_median_ratio");
  }
  const std::size_t rank = lower_rank(settings, "bootstrap_median_ratio");
  if (!median_interval_exists(std::min(numerator.size(), denominator.size()), settings.coverage)) return std::nullopt;
  return ratio_interval(FlatDraw(numerator), FlatDraw(denominator), rank, settings);
}

std::optional<Interval> cluster_bootstrap_median(Arrangements arrangements, const BootstrapSettings& settings) {
  for (const std::vector<double>& arrangement : arrangements) require_finite(arrangement, "cluster_bootstrap_median");
  const std::size_t rank = lower_rank(settings, "cluster_bootstrap_median");
  ClusterDraw draw(arrangements);
  if (!draw.supported()) return std::nullopt;
  return percentile_interval(std::move(draw), rank, settings);
}

std::optional<Interval> cluster_bootstrap_median_ratio(Arrangements numerator, Arrangements denominator,
                                                       const BootstrapSettings& settings) {
  for (const Arrangements side : {numerator, denominator}) {
    for (const std::vector<double>& arrangement : side) require_positive(arrangement, "cluster_bootstrap_median_ratio");
  }
  const std::size_t rank = lower_rank(settings, "cluster_bootstrap_median_ratio");
  ClusterDraw above(numerator);
  ClusterDraw below(denominator);
  if (!above.supported() || !below.supported()) return std::nullopt;
  return ratio_interval(std::move(above), std::move(below), rank, settings);
}

}  // namespace mtuscope::stats
