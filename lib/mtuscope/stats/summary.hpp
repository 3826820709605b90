#pragma once
#include <cstddef>
#include <optional>
#include <span>

namespace mtuscope::stats {

/// A two-sided interval in the unit of the values it was made from.
struct Interval {
  double low = 0.0;
  double high = 0.0;
  double coverage = 0.0;  ///< probability that it covers the true value: 0.95 is 95 %
};

/// Middle value, or the average of the two middle ones.
/// Throws std::invalid_argument for no values or a value that is not finite.
[[nodiscard]] double median(std::span<const double> values);

/// Arithmetic mean. For durations and other costs; a mean of rates is not a rate.
/// Throws std::invalid_argument for no values or a value that is not finite.
[[nodiscard]] double mean(std::span<const double> values);

/// Standard deviation with divisor n - 1; nullopt below two values.
/// Throws std::invalid_argument for a value that is not finite.
[[nodiscard]] std::optional<double> sample_standard_deviation(std::span<const double> values);

/// Standard deviation divided by the mean's magnitude; nullopt below two values or for a mean of zero.
/// Throws std::invalid_argument for a value that is not finite.
[[nodiscard]] std::optional<double> coefficient_of_variation(std::span<const double> values);

/// Distribution-free interval for the median: the order statistics x(k) and x(n + 1 - k), with the largest k whose
/// coverage 1 - 2 P(B < k), B ~ binomial(n, 1/2), is at least `coverage`. The true coverage is returned; ties only
/// raise it. Nullopt when even the extremes cover too little (fewer than 6 values at 0.95). Source: W. J. Conover,
/// "Practical Nonparametric Statistics", 3rd ed. 1999, section 3.2. Throws std::invalid_argument for a value that is
/// not finite or a coverage outside (0, 1).
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> values, double coverage = 0.95);

/// True if the extremes of n values cover the median with at least `coverage`: 1 - 2^(1-n) >= coverage.
/// Throws std::invalid_argument for a coverage outside (0, 1).
[[nodiscard]] bool median_interval_exists(std::size_t value_count, double coverage = 0.95);

/// (high - low) / |centre|. For a centre of zero: 0 if the interval has no width, else infinity, so that a stop rule on
/// the relative width never holds by accident.
/// Throws std::invalid_argument when an argument is not finite.
[[nodiscard]] double relative_interval_width(const Interval& interval, double centre);

}  // namespace mtuscope::stats
