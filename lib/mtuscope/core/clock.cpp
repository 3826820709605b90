#include "mtuscope/core/clock.hpp"

#include <algorithm>
#include <limits>

namespace mtuscope {

ClockQuality measure_clock() noexcept {
  constexpr int kReadings = 2000;
  const MonotonicClock clock;
  std::uint64_t step = std::numeric_limits<std::uint64_t>::max();
  const auto begin = clock.now_ns();
  auto previous = begin;
  for (int i = 0; i < kReadings; ++i) {
    const auto now = clock.now_ns();
    if (now != previous) step = std::min(step, now - previous);
    previous = now;
  }
  const auto cost = (previous - begin) / kReadings;
  return {step == std::numeric_limits<std::uint64_t>::max() ? 1 : step, std::max<std::uint64_t>(cost, 1)};
}

}  // namespace mtuscope
