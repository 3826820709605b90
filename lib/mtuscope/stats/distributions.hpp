#pragma once
#include <cstddef>

namespace mtuscope::stats {

/// P(Z <= z) for a standard normal Z. Throws std::domain_error when z is NaN.
[[nodiscard]] double normal_cdf(double z);

/// The z with P(Z <= z) = probability. Throws std::domain_error unless 0 < probability < 1.
[[nodiscard]] double normal_quantile(double probability);

/// P(T <= t) for Student's t. Throws std::domain_error when t is NaN or degrees_of_freedom <= 0.
[[nodiscard]] double student_t_cdf(double t, double degrees_of_freedom);

/// The t with P(T <= t) = probability.
/// Throws std::domain_error unless 0 < probability < 1 and degrees_of_freedom > 0.
[[nodiscard]] double student_t_quantile(double probability, double degrees_of_freedom);

/// P(B <= successes) for B successes in `trials` independent trials.
/// Throws std::domain_error unless 0 <= probability <= 1.
[[nodiscard]] double binomial_cdf(std::size_t successes, std::size_t trials, double probability);

}  // namespace mtuscope::stats
