#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/transport/channel.hpp"
#include "mtuscope/transport/idle.hpp"

namespace mtuscope {

/// What a stream moves; the same on both ends.
struct StreamJob {
  std::uint64_t messages = 0;  ///< per direction, over all queue pairs
  std::uint32_t tx_depth = 128;
  std::uint32_t rx_depth = 512;
  std::uint32_t post_list = 1;
  std::uint64_t slice_messages = 0;  ///< a time stamp is kept after every so many; 0: none
};

/// Book-keeping of one queue pair. The caller provides one per queue pair; `begin` fills it.
struct QpProgress {
  std::uint64_t quota = 0;  ///< messages of this queue pair, per direction
  std::uint64_t posted = 0;
  std::uint64_t completed = 0;
  std::uint64_t credited = 0;       ///< everything before this has left the peer's receive queue
  std::uint64_t next_sequence = 0;  ///< one past the highest sequence seen
  std::uint64_t last_credit = 0;
  std::uint32_t receives_owed = 0;
};

/// What one end saw.
struct StreamResult {
  KernelStatus status = KernelStatus::ok;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t begin_ns = 0;  ///< before the first post
  std::uint64_t sent_ns = 0;   ///< after the last send completion
  std::uint64_t first_received_ns = 0;
  std::uint64_t last_received_ns = 0;
  std::size_t slices = 0;  ///< entries used in slice_ends_ns
};

/// Room the kernel works in, allocated before the clock starts.
struct StreamScratch {
  std::span<QpProgress> qps;
  std::span<std::uint64_t> slice_ends_ns;
};

/// Which directions an end takes part in, and whether credits keep the receive queue from overflowing.
struct StreamRole {
  bool sends = false;
  bool receives = false;
  bool credits = false;
};

/// Receives kept back for credit acknowledgements, which share the receive queue with messages.
inline constexpr std::uint32_t kCreditReserve = 8;
/// Smallest receive depth flow control works with.
inline constexpr std::uint32_t kMinCreditDepth = 16;
/// Lost messages never give their credits back: after this much silence the sender takes them as lost, and a
/// receiver whose peer has finished takes what is missing as lost. Long against any round trip, short against a
/// deadline.
inline constexpr std::uint64_t kLossSilenceNs = 50'000'000;

/// Moves a count on to the next one whose low 32 bits are `low`. One that lies behind changes nothing: a datagram that
/// was overtaken, or a credit that came after its messages were taken as lost.
constexpr void advance_to(std::uint64_t& count, std::uint32_t low) noexcept {
  const auto step = low - static_cast<std::uint32_t>(count);
  if (step < 0x80000000U) count += step;
}

/// One end of a stream: sender, receiver or both, with or without credits. All conditions are compile-time constants.
template <WaitMode W, StreamRole R, class C, Clock K>
class StreamKernel {
  static constexpr bool kPollsReceives = R.receives || R.credits;
  static constexpr bool kPollsSends = R.sends || R.credits;

 public:
  StreamKernel(C& channel, const K& clock, const StreamJob& job, StreamScratch scratch, Watch& watch) noexcept
      : channel_(channel), clock_(clock), job_(job), scratch_(scratch), idle_(watch) {
    const auto qp_count = scratch_.qps.size();
    for (std::size_t q = 0; q < qp_count; ++q) {
      scratch_.qps[q] = {};
      scratch_.qps[q].quota = job_.messages / qp_count + (q < job_.messages % qp_count ? 1 : 0);
    }
    window_ = job_.rx_depth > kCreditReserve ? job_.rx_depth - kCreditReserve : 1;
    credit_interval_ = std::max<std::uint32_t>(1, window_ / 4);
    repost_batch_ = std::clamp<std::uint32_t>(job_.rx_depth / 4, 1, kMaxRepostBatch);
    next_slice_ = job_.slice_messages == 0 ? ~std::uint64_t{0} : job_.slice_messages;
  }

  [[nodiscard]] StreamResult run() noexcept {
    result_.begin_ns = clock_.now_ns();
    while (!finished()) {
      const auto status = step();
      if (status == KernelStatus::ok) continue;
      result_.status = status;
      break;
    }
    if constexpr (R.receives) result_.last_received_ns = std::max(result_.last_received_ns, result_.first_received_ns);
    return result_;
  }

  /// Whether this end has nothing left to do.
  [[nodiscard]] bool finished() const noexcept {
    const bool sends_done = !R.sends || result_.sent >= job_.messages;
    const bool receives_done = !R.receives || result_.received >= job_.messages;
    return sends_done && receives_done;
  }

  /// One turn of the loop: post, poll, and rest if nothing was found.
  [[nodiscard]] KernelStatus step() noexcept {
    bool moved = false;
    if constexpr (R.sends) {
      if (!pump()) return KernelStatus::post_failed;
    }
    if constexpr (kPollsSends) {
      const int found = channel_.poll_send(completions_);
      if (found < 0) return KernelStatus::completion_failed;
      if (found > 0) reap_sends(static_cast<std::size_t>(found));
      moved = found > 0;
    }
    if constexpr (kPollsReceives) {
      const int found = channel_.poll_receive(completions_);
      if (found < 0) return KernelStatus::completion_failed;
      if (found > 0 && !reap_receives(static_cast<std::size_t>(found))) return KernelStatus::post_failed;
      moved = moved || found > 0;
    }
    if (moved) return idle_.flowing() ? KernelStatus::ok : KernelStatus::interrupted;
    return wait();
  }

 private:
  static constexpr std::size_t kPollBatch = 16;
  static constexpr std::uint32_t kMaxRepostBatch = 32;

  [[nodiscard]] bool has_room(const QpProgress& qp, std::uint32_t batch) const noexcept {
    if (qp.posted - qp.completed + batch > job_.tx_depth) return false;
    return !R.credits || qp.posted - qp.credited + batch <= window_;
  }

  /// Posts while the send queue (and the peer's receive queue) has room for a whole list.
  [[nodiscard]] bool pump() noexcept {
    for (std::uint32_t q = 0; q < scratch_.qps.size(); ++q) {
      auto& qp = scratch_.qps[q];
      while (qp.posted < qp.quota) {
        const auto batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(job_.post_list, qp.quota - qp.posted));
        if (!has_room(qp, batch)) break;
        if (!channel_.post(q, batch, qp.posted + batch == qp.quota)) return false;
        qp.posted += batch;
      }
    }
    return true;
  }

  /// Completions of one queue pair come in runs, added up before memory is touched.
  void reap_sends(std::size_t found) noexcept {
    for (std::size_t i = 0; i < found;) {
      const auto qp = completions_[i].qp;
      std::uint64_t messages = 0;
      for (; i < found && completions_[i].qp == qp; ++i) messages += completions_[i].messages;
      scratch_.qps[qp].completed += messages;
      result_.sent += messages;
    }
    if constexpr (R.sends) {
      if (result_.sent >= job_.messages && result_.sent_ns == 0) result_.sent_ns = clock_.now_ns();
      if constexpr (!(R.credits && R.receives)) mark_slices(result_.sent);
    }
  }

  [[nodiscard]] bool reap_receives(std::size_t found) noexcept {
    const auto before = result_.received;
    for (std::size_t i = 0; i < found; ++i) {
      const auto& completion = completions_[i];
      auto& qp = scratch_.qps[completion.qp];
      ++qp.receives_owed;
      if constexpr (R.credits) note_sequence(qp, completion);
      result_.received += completion.messages;
      if (qp.receives_owed >= repost_batch_ && !give_back(completion.qp)) return false;
    }
    if constexpr (R.credits && R.receives) {
      if (!give_credits()) return false;
    }
    if constexpr (R.receives) stamp_arrivals(before);
    return true;
  }

  static void note_sequence(QpProgress& qp, const Completion& completion) noexcept {
    if (completion.is_credit) {
      advance_to(qp.credited, completion.immediate);
    } else {
      advance_to(qp.next_sequence, completion.immediate + 1);
    }
  }

  [[nodiscard]] bool give_back(std::uint32_t q) noexcept {
    auto& qp = scratch_.qps[q];
    const auto count = qp.receives_owed;
    qp.receives_owed = 0;
    return channel_.post_receives(q, count);
  }

  [[nodiscard]] bool give_credits() noexcept {
    for (std::uint32_t q = 0; q < scratch_.qps.size(); ++q) {
      auto& qp = scratch_.qps[q];
      if (qp.next_sequence - qp.last_credit < credit_interval_) continue;
      if (qp.receives_owed > 0 && !give_back(q)) return false;
      if (!channel_.post_credit(q, static_cast<std::uint32_t>(qp.next_sequence))) return false;
      qp.last_credit = qp.next_sequence;
    }
    return true;
  }

  /// A clock reading at the first arrival, at the last, and at slice ends; none in between.
  void stamp_arrivals(std::uint64_t before) noexcept {
    if (before == 0 && result_.received > 0) result_.first_received_ns = clock_.now_ns();
    if (result_.received >= job_.messages) result_.last_received_ns = clock_.now_ns();
    if constexpr (!R.sends || R.credits) mark_slices(result_.received);
  }

  void mark_slices(std::uint64_t done) noexcept {
    if (done < next_slice_) return;
    const auto now = clock_.now_ns();
    for (; next_slice_ <= done; next_slice_ += job_.slice_messages) {
      if (result_.slices < scratch_.slice_ends_ns.size()) scratch_.slice_ends_ns[result_.slices++] = now;
    }
  }

  [[nodiscard]] KernelStatus wait() noexcept {
    const auto status = idle_.wait(channel_);
    if constexpr (R.receives) note_quiet();
    if (status != KernelStatus::ok) return status;
    if (idle_.quiet_ns() < kLossSilenceNs) return KernelStatus::ok;
    if constexpr (R.sends && R.credits) {
      for (auto& qp : scratch_.qps) qp.credited = qp.posted;
    }
    if constexpr (R.receives) {
      if (idle_.peer_finished() && (!R.sends || result_.sent >= job_.messages)) return give_up();
    }
    return KernelStatus::ok;
  }

  /// Reads the clock where arrivals have paused, while there is nothing else to do: they may have been the last.
  void note_quiet() noexcept {
    if (!idle_.just_quiet() || result_.received == received_at_quiet_) return;
    received_at_quiet_ = result_.received;
    quiet_since_ns_ = clock_.now_ns();
  }

  /// The peer has finished and the rest is lost: the span ends with the last arrival, not with the silence after it.
  [[nodiscard]] KernelStatus give_up() noexcept {
    if (result_.first_received_ns != 0 && result_.last_received_ns == 0) result_.last_received_ns = quiet_since_ns_;
    return KernelStatus::peer_finished;
  }

  C& channel_;
  const K& clock_;
  const StreamJob job_;
  const StreamScratch scratch_;
  Idle<W> idle_;
  std::array<Completion, kPollBatch> completions_{};
  StreamResult result_;
  std::uint32_t window_ = 0;
  std::uint32_t credit_interval_ = 0;
  std::uint32_t repost_batch_ = 0;
  std::uint64_t next_slice_ = 0;
  std::uint64_t received_at_quiet_ = 0;
  std::uint64_t quiet_since_ns_ = 0;
};

/// Runs one end of a stream.
template <WaitMode W, StreamRole R, class C, Clock K>
[[nodiscard]] StreamResult run_stream(C& channel, const K& clock, const StreamJob& job, StreamScratch scratch,
                                      Watch& watch) noexcept {
  return StreamKernel<W, R, C, K>{channel, clock, job, scratch, watch}.run();
}

}  // namespace mtuscope
