#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/channel.hpp"

namespace mtuscope::model {

// clang-format 14 does not know requirements with noexcept and a return type.
// clang-format off

/// The sending device of a modelled pair, made from its `Parameters`.
/// - `configure(point)`: the next completions are those of a new trial of `point`, at time 0. May allocate and throw.
/// - `next_completion_ns()`: when the trial's next message is complete [ns].
template <class T>
concept SimulatedDevice = std::constructible_from<T, const typename T::Parameters&> &&
    requires(T& device, const Point& point) {
  device.configure(point);
  { device.next_completion_ns() } noexcept -> std::same_as<double>;
};
// clang-format on

/// The sending end of a modelled pair; it owns simulated time. The models' senders are never short of work, so posting
/// costs no time and only completions move the clock.
template <SimulatedDevice Device>
class SimulatedChannel {
 public:
  using Parameters = typename Device::Parameters;

  SimulatedChannel(const Parameters& parameters, std::uint32_t qp_count) : device_(parameters), pending_(qp_count) {}

  /// Starts a trial of `point` at time 0.
  void configure(const Point& point) {
    device_.configure(point);
    pending_.assign(pending_.size(), 0);
    next_qp_ = 0;
    *now_ns_ = 0;
  }
  [[nodiscard]] bool post(std::uint32_t qp, std::uint32_t count, bool /*last*/) noexcept {
    pending_[qp] += count;
    return true;
  }
  /// Jumps to the next completion: one message at a time, of the queue pairs in turn, so that slice ends are exact.
  [[nodiscard]] int poll_send(std::span<Completion> out) noexcept {
    for (std::size_t tried = 0; tried < pending_.size(); ++tried) {
      const auto qp = next_qp_;
      next_qp_ = qp + 1 == pending_.size() ? 0 : qp + 1;
      if (pending_[qp] == 0) continue;
      --pending_[qp];
      *now_ns_ = device_.next_completion_ns();
      out[0] = {.qp = static_cast<std::uint32_t>(qp), .messages = 1};
      return 1;
    }
    return 0;
  }
  /// Nothing ever has to be waited for.
  [[nodiscard]] bool arm() noexcept { return true; }
  [[nodiscard]] int wait_event(int /*timeout_ms*/) noexcept { return 1; }

  /// Simulated time [ns]; stays where it is when the channel is moved.
  [[nodiscard]] const double& now_ns() const noexcept { return *now_ns_; }

 private:
  Device device_;
  std::vector<std::uint64_t> pending_;
  std::size_t next_qp_ = 0;
  std::unique_ptr<double> now_ns_ = std::make_unique<double>(0.0);
};

/// A channel's simulated time, rounded to whole nanoseconds.
class SimulatedClock {
 public:
  /// `now_ns` must outlive the clock.
  explicit SimulatedClock(const double& now_ns) noexcept : now_ns_(&now_ns) {}
  [[nodiscard]] std::uint64_t now_ns() const noexcept { return static_cast<std::uint64_t>(std::llround(*now_ns_)); }

 private:
  const double* now_ns_;
};

static_assert(Clock<SimulatedClock>);

}  // namespace mtuscope::model
