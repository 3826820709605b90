#pragma once
#include <array>
#include <cstdint>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/core/latency_histogram.hpp"
#include "mtuscope/transport/channel.hpp"
#include "mtuscope/transport/idle.hpp"

namespace mtuscope {

/// What one end of a ping-pong saw.
struct PingPongResult {
  KernelStatus status = KernelStatus::ok;
  std::uint64_t round_trips = 0;
  std::uint64_t elapsed_ns = 0;  ///< from before the first post to the last reply
};

/// How a ping-pong's messages travel and are noticed.
enum class PingPongKind : std::uint8_t {
  send,   ///< a receive completion
  write,  ///< the last byte of the message changes
  read    ///< the initiator's own completion; the responder is passive
};

/// Both ends of a ping-pong on queue pair 0; the initiator also reads the clock, once per round trip.
template <WaitMode W, PingPongKind P, class C, Clock K>
class PingPongKernel {
 public:
  PingPongKernel(C& channel, const K& clock, std::uint64_t round_trips, std::uint32_t tx_depth, Watch& watch) noexcept
      : channel_(channel), clock_(clock), round_trips_(round_trips), tx_depth_(tx_depth), idle_(watch) {}

  /// Records half of every round trip (the whole one for read) [ns].
  [[nodiscard]] PingPongResult initiate(LatencyHistogram& histogram) noexcept {
    const auto begin = clock_.now_ns();
    auto before = begin;
    for (; result_.round_trips < round_trips_; ++result_.round_trips) {
      if (!fire() || !await()) return result_;
      const auto now = clock_.now_ns();
      histogram.record(P == PingPongKind::read ? now - before : (now - before + 1) / 2);
      before = now;
    }
    result_.elapsed_ns = before - begin;
    (void)drain();
    return result_;
  }

  /// Answers every message with one; not for read.
  [[nodiscard]] PingPongResult respond() noexcept {
    for (; result_.round_trips < round_trips_; ++result_.round_trips) {
      if (!await() || !fire()) return result_;
    }
    (void)drain();
    return result_;
  }

 private:
  [[nodiscard]] bool fire() noexcept {
    while (posted_ - completed_ >= tx_depth_) {
      if (!reap() || !rest(false)) return false;
    }
    if constexpr (P == PingPongKind::write) channel_.stamp(++stamp_sent_);
    if (!channel_.post(0, 1, true)) return stop(KernelStatus::post_failed);
    ++posted_;
    return true;
  }

  /// Waits for the next message of the peer, or for the read's own completion.
  [[nodiscard]] bool await() noexcept {
    while (true) {
      if (!reap()) return false;
      if constexpr (P == PingPongKind::read) {
        if (completed_ == posted_) break;
      } else if constexpr (P == PingPongKind::write) {
        if (channel_.stamp_seen(static_cast<std::uint8_t>(stamp_seen_ + 1))) {
          ++stamp_seen_;
          break;
        }
      } else {
        const int found = channel_.poll_receive(one_);
        if (found < 0) return stop(KernelStatus::completion_failed);
        if (found > 0) {
          if (!channel_.post_receives(0, 1)) return stop(KernelStatus::post_failed);
          break;
        }
      }
      if (!rest(P != PingPongKind::read)) return false;
    }
    return idle_.flowing() || stop(KernelStatus::interrupted);
  }

  [[nodiscard]] bool reap() noexcept {
    const int found = channel_.poll_send(many_);
    if (found < 0) return stop(KernelStatus::completion_failed);
    for (int i = 0; i < found; ++i) completed_ += many_[static_cast<std::size_t>(i)].messages;
    return true;
  }

  [[nodiscard]] bool drain() noexcept {
    while (completed_ < posted_) {
      if (!reap() || (completed_ < posted_ && !rest(false))) return false;
    }
    return true;
  }

  /// A peer that has finished ends the wait for its messages, not the wait for our own completions.
  [[nodiscard]] bool rest(bool for_peer) noexcept {
    const auto status = idle_.wait(channel_);
    if (status != KernelStatus::ok) return stop(status);
    if (for_peer && idle_.peer_finished() && idle_.quiet_ns() > kPeerSilenceNs)
      return stop(KernelStatus::peer_finished);
    return true;
  }

  [[nodiscard]] bool stop(KernelStatus status) noexcept {
    result_.status = status;
    return false;
  }

  static constexpr std::uint64_t kPeerSilenceNs = 50'000'000;

  C& channel_;
  const K& clock_;
  const std::uint64_t round_trips_;
  const std::uint32_t tx_depth_;
  Idle<W> idle_;
  std::array<Completion, 1> one_{};
  std::array<Completion, 16> many_{};
  PingPongResult result_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint8_t stamp_sent_ = 0;
  std::uint8_t stamp_seen_ = 0;
};

}  // namespace mtuscope
