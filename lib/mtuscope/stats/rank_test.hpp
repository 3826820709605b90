#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace mtuscope::stats {

/// Up to this many values in both samples together, the Mann-Whitney p-value is exact, ties included; above, it is the
/// normal approximation. 40 covers two samples of 20, the extent of printed tables; there the approximation is already
/// within 0.001 of the exact value and the exact count still fits a double's 53 bits.
inline constexpr std::size_t kExactRankTestMaximumValues = 40;

struct RankTest {
  double u = 0.0;        ///< pairs in which the first sample's value is the larger one, ties counted half
  double p_value = 1.0;  ///< two-sided
  bool exact = false;    ///< false: normal approximation with tie and continuity correction
};

/// Mann-Whitney U test (Wilcoxon rank sum) of two independent samples. The exact p-value is the share of all ways to
/// split the pooled midranks whose U lies at least as far from n1 n2 / 2 as the one seen; without ties that is twice
/// the tail. Samples that are all ties give p = 1.
/// Source: H. B. Mann, D. R. Whitney, Ann. Math. Statist. 18 (1947) 50-60; ties: E. L. Lehmann, "Nonparametrics", 1975,
/// chapter 1.
/// Throws std::invalid_argument for an empty sample or a value that is not finite.
[[nodiscard]] RankTest mann_whitney(std::span<const double> first, std::span<const double> second);

/// Holm's step-down adjustment: compare the result, in the order given, with the error rate wanted over all tests.
/// Source: S. Holm, Scand. J. Statist. 6 (1979) 65-70.
/// Throws std::invalid_argument for a p-value outside [0, 1].
[[nodiscard]] std::vector<double> holm_adjust(std::span<const double> p_values);

}  // namespace mtuscope::stats
