#pragma once
#include <concepts>
#include <cstdint>
#include <ctime>

namespace mtuscope {

/// A source of time [ns]; only differences mean anything. The model back end supplies a simulated one.
template <class T>
concept Clock = requires(const T& clock) {
  // clang-format off
  { clock.now_ns() } noexcept -> std::same_as<std::uint64_t>;
  // clang-format on
};

/// CLOCK_MONOTONIC: never steps with the wall clock, and needs no CPU frequency from /proc/cpuinfo.
/// (CLOCK_MONOTONIC_RAW is no better here: the rates of both ends are never subtracted from each other.)
struct MonotonicClock {
  static constexpr const char* kName = "CLOCK_MONOTONIC";
  [[nodiscard]] std::uint64_t now_ns() const noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
  }
};
static_assert(Clock<MonotonicClock>);

/// What one reading of the clock costs and the smallest step it was seen to make [ns].
struct ClockQuality {
  std::uint64_t resolution_ns = 0;
  std::uint64_t cost_ns = 0;
};

/// Measures MonotonicClock in about a millisecond.
[[nodiscard]] ClockQuality measure_clock() noexcept;

/// The shortest trial in which two clock readings and one step stay below 0.1 % [ns].
[[nodiscard]] constexpr std::uint64_t shortest_trial_ns(const ClockQuality& clock) noexcept {
  return 1000 * (clock.resolution_ns + 2 * clock.cost_ns);
}

/// A point in time after which a wait gives up.
class Deadline {
 public:
  [[nodiscard]] static Deadline after_ns(std::uint64_t span_ns) noexcept {
    return Deadline{MonotonicClock{}.now_ns() + span_ns};
  }
  [[nodiscard]] bool passed() const noexcept { return MonotonicClock{}.now_ns() >= at_ns_; }
  /// Time left, 0 once passed [ms, rounded up], as poll(2) takes it.
  [[nodiscard]] int left_ms() const noexcept {
    const auto now = MonotonicClock{}.now_ns();
    if (now >= at_ns_) return 0;
    const auto left = (at_ns_ - now + 999'999U) / 1'000'000U;
    return left > 0x7fffffffU ? 0x7fffffff : static_cast<int>(left);
  }
  [[nodiscard]] std::uint64_t at_ns() const noexcept { return at_ns_; }

 private:
  explicit Deadline(std::uint64_t at_ns) noexcept : at_ns_(at_ns) {}
  std::uint64_t at_ns_;
};

}  // namespace mtuscope
