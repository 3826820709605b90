#include "mtuscope/core/latency_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace mtuscope {

std::uint64_t LatencyHistogram::low_of(std::size_t index) noexcept {
  if (index < kSubCount) return index;
  const auto exponent = index / kSubCount - 1;
  return (kSubCount + index % kSubCount) << exponent;
}

std::uint64_t LatencyHistogram::high_of(std::size_t index) noexcept {
  if (index < kSubCount) return index;
  return low_of(index) + (std::uint64_t{1} << (index / kSubCount - 1)) - 1;
}

void LatencyHistogram::merge(const LatencyHistogram& other) noexcept {
  for (std::size_t i = 0; i < kBucketCount; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

void LatencyHistogram::add_bucket(std::uint64_t low_ns, std::uint64_t count) noexcept {
  counts_[index_of(low_ns)] += count;
  count_ += count;
  min_ns_ = std::min(min_ns_, low_ns);
  max_ns_ = std::max(max_ns_, low_ns);
}

void LatencyHistogram::set_extremes(std::uint64_t min_ns, std::uint64_t max_ns) noexcept {
  min_ns_ = min_ns;
  max_ns_ = max_ns;
}

double LatencyHistogram::percentile_ns(double quantile) const noexcept {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(
      std::clamp(std::ceil(quantile * static_cast<double>(count_)), 1.0, static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBucketCount; ++i) {
    seen += counts_[i];
    if (seen < rank) continue;
    const double middle = (static_cast<double>(low_of(i)) + static_cast<double>(high_of(i))) / 2;
    return std::clamp(middle, static_cast<double>(min_ns_), static_cast<double>(max_ns_));
  }
  return static_cast<double>(max_ns_);
}

std::vector<LatencyHistogram::Bucket> LatencyHistogram::buckets() const {
  std::vector<Bucket> used;
  for (std::size_t i = 0; i < kBucketCount; ++i) {
    if (counts_[i] != 0) used.push_back({low_of(i), high_of(i), counts_[i]});
  }
  return used;
}

}  // namespace mtuscope
