#pragma once
#include <sched.h>

#include <cstdint>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/channel.hpp"
#include "mtuscope/transport/watch.hpp"

namespace mtuscope {

/// How a kernel ended.
enum class KernelStatus : std::uint8_t {
  ok,
  post_failed,
  completion_failed,
  event_failed,
  peer_finished,  ///< the peer's part was over and nothing more arrived: fewer messages than asked for
  peer_lost,
  timed_out,
  interrupted
};

/// What a kernel does when polling finds nothing. While messages flow it makes no system call and reads no clock.
template <WaitMode W>
class Idle {
 public:
  explicit Idle(Watch& watch) noexcept : watch_(watch) {}

  /// Messages were found. False: the user asked to stop, looked at now and then so that a long trial can be ended.
  [[nodiscard]] bool flowing() noexcept {
    empty_polls_ = 0;
    progressed_ = true;
    quiet_ns_ = 0;
    return ++flows_ % kFlowsPerStopLook != 0 || !watch_.stop_requested();
  }

  /// Nothing was found; ok means "poll again".
  template <SendChannel C>
  [[nodiscard]] KernelStatus wait(C& channel) noexcept {
    if constexpr (W == WaitMode::event) {
      return wait_for_event(channel);
    } else {
      ++empty_polls_;
      just_quiet_ = empty_polls_ == kPollsUntilQuiet;
      if constexpr (W == WaitMode::yield) {
        if (empty_polls_ % kPollsPerYield == 0) sched_yield();
      }
      return empty_polls_ % kPollsPerCheck == 0 ? check() : KernelStatus::ok;
    }
  }

  /// True after the wait in which a flow of messages turned out to have stopped, once for each stop.
  [[nodiscard]] bool just_quiet() const noexcept { return just_quiet_; }
  /// How long nothing has been found, known only to the resolution of the checks [ns].
  [[nodiscard]] std::uint64_t quiet_ns() const noexcept { return quiet_ns_; }
  /// Whether the peer has said that its part is over.
  [[nodiscard]] bool peer_finished() const noexcept { return peer_finished_; }

 private:
  // A yielding loop shares its CPU with the peer: it gives way soon, and a check (two system calls) costs little then.
  static constexpr std::uint32_t kFlowsPerStopLook = 1024;
  static constexpr std::uint32_t kPollsPerYield = 8;
  static constexpr std::uint32_t kPollsPerCheck = W == WaitMode::yield ? 512 : 4096;
  static constexpr std::uint32_t kPollsUntilQuiet = W == WaitMode::yield ? 8 : 64;
  static constexpr int kEventWaitMs = 20;

  template <SendChannel C>
  [[nodiscard]] KernelStatus wait_for_event(C& channel) noexcept {
    just_quiet_ = !armed_;
    if (!armed_) {  // a completion may have slipped in before this: the caller polls once more, then sleeps
      armed_ = true;
      return channel.arm() ? KernelStatus::ok : KernelStatus::event_failed;
    }
    const int events = channel.wait_event(kEventWaitMs);
    if (events < 0) return KernelStatus::event_failed;
    if (events == 0) return check();
    armed_ = false;
    return KernelStatus::ok;
  }

  [[nodiscard]] KernelStatus check() noexcept {
    const auto now = MonotonicClock{}.now_ns();
    if (progressed_ || last_progress_ns_ == 0) last_progress_ns_ = now;
    quiet_ns_ = now - last_progress_ns_;
    const auto verdict = watch_.check(progressed_);
    progressed_ = false;
    switch (verdict) {
      case WatchVerdict::go_on:
        return KernelStatus::ok;
      case WatchVerdict::peer_finished:
        peer_finished_ = true;
        return KernelStatus::ok;
      case WatchVerdict::peer_lost:
        return KernelStatus::peer_lost;
      case WatchVerdict::timed_out:
        return KernelStatus::timed_out;
      case WatchVerdict::interrupted:
        return KernelStatus::interrupted;
    }
    return KernelStatus::ok;
  }

  Watch& watch_;
  std::uint32_t empty_polls_ = 0;
  std::uint32_t flows_ = 0;
  bool progressed_ = false;
  bool armed_ = false;
  bool just_quiet_ = false;
  bool peer_finished_ = false;
  std::uint64_t last_progress_ns_ = 0;
  std::uint64_t quiet_ns_ = 0;
};

}  // namespace mtuscope
