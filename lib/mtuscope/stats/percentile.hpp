#pragma once
#include <cstdint>
#include <span>

namespace mtuscope::stats {

/// A percentile is reported only if at least this many samples are expected beyond it. With fewer, the value is
/// decided by a handful of samples and moves by whole orders from run to run; with 10 its rank has a relative standard
/// error of about 1 / sqrt(10), a third. p50 then needs 20 samples, p90 100, p99 1,000 and p99.9 10,000.
inline constexpr double kMinimumSamplesBeyondPercentile = 10.0;

/// True if `sample_count` samples are enough to report the quantile (0.99 is p99) under the policy above; below the
/// median the samples counted are those under it.
/// Throws std::invalid_argument unless 0 < quantile < 1.
[[nodiscard]] bool percentile_supported(std::uint64_t sample_count, double quantile);

/// Nearest-rank percentile: the smallest sample with at least quantile x n samples at or below it. Always one of the
/// samples; quantile 0 gives the smallest, 1 the largest.
/// Throws std::invalid_argument for no samples, samples not ascending or not finite, or a quantile outside [0, 1].
[[nodiscard]] double percentile(std::span<const double> sorted_samples, double quantile);

}  // namespace mtuscope::stats
