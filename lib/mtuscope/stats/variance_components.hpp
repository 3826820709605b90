#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mtuscope::stats {

/// How much of the spread comes from repeating a trial and how much from setting everything up anew.
/// Both are variances, in the square of the values' unit.
struct VarianceComponents {
  double within = 0.0;     ///< between trials of one arrangement
  double between = 0.0;    ///< between arrangements, the trials' share taken off; never below 0
  std::size_t groups = 0;  ///< arrangements that had values
};

/// One-way random effects analysis of variance (method of moments) for groups of unequal sizes:
/// between = (MSB - MSW) / n0 with n0 = (N - sum n_i^2 / N) / (groups - 1), set to 0 where it comes out negative.
/// Empty groups (an arrangement that failed) are left out. Nullopt below two groups with values, or when no group has
/// two values, because then the two parts cannot be told apart.
/// Source: G. W. Snedecor, W. G. Cochran, "Statistical Methods" (random effects, samples of unequal sizes); S. R.
/// Searle, G. Casella, C. E. McCulloch, "Variance Components", 1992, chapter 3. Throws std::invalid_argument for a
/// value that is not finite.
[[nodiscard]] std::optional<VarianceComponents> variance_components(std::span<const std::vector<double>> groups);

}  // namespace mtuscope::stats
