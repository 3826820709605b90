#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mtuscope {

/// The project's only random generator: small, seeded, the same on every machine and in every release.
/// Source: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) noexcept : state_(seed) {}
  /// A generator for one (seed, stream) pair, so that round r of a run never depends on how many numbers round r-1
  /// used.
  constexpr SplitMix64(std::uint64_t seed, std::uint64_t stream) noexcept
      : state_(SplitMix64(seed ^ (stream * 0x9e3779b97f4a7c15U)).next()) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// Uniform in [0, bound); bound 0 gives 0. Rejection keeps it free of modulo bias.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    if (bound == 0) return 0;
    const std::uint64_t threshold = (0 - bound) % bound;
    std::uint64_t value = next();
    while (value < threshold) value = next();
    return value % bound;
  }
  /// Uniform in [0, 1) with 53 bits.
  constexpr double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

/// Fisher-Yates shuffle of a random-access container.
template <class Container>
constexpr void shuffle(Container& items, SplitMix64& random) noexcept {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace mtuscope
