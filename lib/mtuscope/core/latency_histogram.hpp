#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace mtuscope {

/// Latencies in constant memory: log-linear buckets of at most 1/64 = 1.6 % width, and the true extremes.
/// The idea is HdrHistogram's (G. Tene); the layout is our own.
class LatencyHistogram {
 public:
  /// One used bucket: values in [low_ns, high_ns], `count` of them.
  struct Bucket {
    std::uint64_t low_ns = 0;
    std::uint64_t high_ns = 0;
    std::uint64_t count = 0;
  };

  void record(std::uint64_t value_ns) noexcept {
    ++counts_[index_of(value_ns)];
    ++count_;
    if (value_ns < min_ns_) min_ns_ = value_ns;
    if (value_ns > max_ns_) max_ns_ = value_ns;
  }
  /// Adds the counts of `other`.
  void merge(const LatencyHistogram& other) noexcept;
  /// Adds `count` values known only by their bucket; for reading a histogram back from a record.
  void add_bucket(std::uint64_t low_ns, std::uint64_t count) noexcept;
  /// Sets the true extremes; for reading a histogram back from a record.
  void set_extremes(std::uint64_t min_ns, std::uint64_t max_ns) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t min_ns() const noexcept { return count_ == 0 ? 0 : min_ns_; }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_ns_; }
  /// Nearest-rank percentile, the middle of its bucket clamped to the true extremes [ns]; 0 when empty.
  /// `quantile` in [0, 1].
  [[nodiscard]] double percentile_ns(double quantile) const noexcept;
  /// Buckets with a count, ascending.
  [[nodiscard]] std::vector<Bucket> buckets() const;

 private:
  static constexpr unsigned kSubBits = 6;  // 64 linear steps per power of two
  static constexpr std::uint64_t kSubCount = 1U << kSubBits;
  static constexpr unsigned kExponents = 34;  // covers 2^(6+34) ns, about 18 minutes; longer goes to the last bucket
  static constexpr std::size_t kBucketCount = kSubCount * (kExponents + 1);

  [[nodiscard]] static constexpr std::size_t index_of(std::uint64_t value) noexcept {
    if (value < kSubCount) return static_cast<std::size_t>(value);
    const auto exponent = static_cast<unsigned>(std::bit_width(value)) - kSubBits - 1;
    if (exponent >= kExponents) return kBucketCount - 1;
    return static_cast<std::size_t>((exponent + 1) * kSubCount + ((value >> exponent) - kSubCount));
  }
  [[nodiscard]] static std::uint64_t low_of(std::size_t index) noexcept;
  [[nodiscard]] static std::uint64_t high_of(std::size_t index) noexcept;

  std::array<std::uint64_t, kBucketCount> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t min_ns_ = ~std::uint64_t{0};
  std::uint64_t max_ns_ = 0;
};

}  // namespace mtuscope
