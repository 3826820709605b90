#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mtuscope/stats/summary.hpp"

namespace mtuscope::stats {

/// How often a bootstrap draws, and from which stream of random numbers: equal settings give equal intervals anywhere.
struct BootstrapSettings {
  std::uint64_t seed = 0;
  /// 9,999, not 10,000: (resamples + 1) times 2.5 % is then a whole rank (A. C. Davison, D. V. Hinkley, "Bootstrap
  /// Methods and their Application", 1997, section 2.2).
  std::size_t resamples = 9999;
  double coverage = 0.95;  ///< nominal; the true one is lower for few arrangements, see docs/statistics.md
};

/// Fewest arrangements the cluster bootstrap resamples. Two give three distinct draws, which is no distribution; the
/// gate's rule of at least three arrangements is the same number.
inline constexpr std::size_t kMinimumArrangements = 3;

/// Percentile bootstrap interval of the median of independent values. Nullopt when the values are too few for their
/// extremes to cover the median that often (median_interval_exists): the bootstrap cannot reach beyond them.
/// Throws std::invalid_argument for a value that is not finite, a coverage outside (0, 1), or too few resamples for it.
[[nodiscard]] std::optional<Interval> bootstrap_median(std::span<const double> values,
                                                       const BootstrapSettings& settings);

/// Percentile bootstrap interval of median(numerator) / median(denominator), the samples drawn independently.
/// Nullopt when either sample is too small (median_interval_exists).
/// Throws std::invalid_argument as bootstrap_median, and for values that are not positive: a ratio of rates or times.
[[nodiscard]] std::optional<Interval> bootstrap_median_ratio(std::span<const double> numerator,
                                                             std::span<const double> denominator,
                                                             const BootstrapSettings& settings);

/// As bootstrap_median over trials grouped by arrangement: draws arrangements, then trials in each drawn one, both with
/// replacement, and takes the median of all trials drawn. Empty arrangements are left out.
/// Nullopt below kMinimumArrangements arrangements with values. Source: Davison and Hinkley 1997, section 3.8.
/// Throws std::invalid_argument as bootstrap_median.
[[nodiscard]] std::optional<Interval> cluster_bootstrap_median(std::span<const std::vector<double>> arrangements,
                                                               const BootstrapSettings& settings);

/// As bootstrap_median_ratio with both samples drawn as cluster_bootstrap_median does.
/// Nullopt when either has fewer than kMinimumArrangements arrangements with values.
/// Throws std::invalid_argument as bootstrap_median_ratio.
[[nodiscard]] std::optional<Interval> cluster_bootstrap_median_ratio(std::span<const std::vector<double>> numerator,
                                                                     std::span<const std::vector<double>> denominator,
                                                                     const BootstrapSettings& settings);

}  // namespace mtuscope::stats
