#pragma once
#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/channel.hpp"
#include "mtuscope/verbs/event_waiter.hpp"

namespace mtuscope::verbs {

/// Bytes a UD receive buffer holds before the payload (InfiniBand Architecture Specification, global route header).
inline constexpr std::uint32_t kGrhBytes = 40;
/// Queue key of our UD queue pairs. Any value without the top bit, which is reserved for privileged keys.
inline constexpr std::uint32_t kQueueKey = 0x11111111;
/// Send queue entries kept for credit acknowledgements: at most a few are under way, as each covers a quarter of the
/// peer's window.
inline constexpr std::uint32_t kCreditSends = 16;

/// Everything fixed about one connected queue pair.
struct ChannelQueue {
  ibv_qp* qp = nullptr;
  ibv_ah* address_handle = nullptr;  ///< UD only
  std::uint32_t remote_qp_number = 0;
  std::byte* send_area = nullptr;
  std::byte* receive_area = nullptr;  ///< with kGrhBytes of room before it
  std::uint64_t remote_send_area = 0;
  std::uint64_t remote_receive_area = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;
};

/// Everything fixed about a session's data path.
struct ChannelSetup {
  Connection connection = Connection::rc;
  ibv_cq* send_cq = nullptr;
  ibv_cq* receive_cq = nullptr;
  ibv_comp_channel* completion_channel = nullptr;
  std::uint32_t rx_depth = 0;
  std::uint32_t post_list = 1;
  std::uint32_t cq_mod = 1;
  std::uint32_t inline_limit_bytes = 0;   ///< messages up to this size are sent inline
  std::uint32_t receive_limit_bytes = 0;  ///< largest payload of one receive
};

/// What the messages of one trial are.
struct ChannelJob {
  Operation operation = Operation::send;
  std::uint64_t message_size_bytes = 1;
  std::uint32_t datagram_limit_bytes = 0;  ///< messages are cut into datagrams of at most this size; 0: never
  bool credits = false;                    ///< messages carry a sequence number, and empty ones are credits
  bool awaits_sends = true;                ///< whether events are wanted for send completions
  bool awaits_receives = true;             ///< and for receive completions
};

/// The first completion that carried an error other than "flushed".
struct WorkError {
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t vendor_error = 0;
  std::uint32_t qp_number = 0;
  bool sending = false;
};

/// The data path over verbs: satisfies Channel and StampedChannel. Work requests are prebuilt; a post patches ids,
/// flags and sequence numbers and rings once per list. A work request id is (queue << 32 | messages it stands for).
class VerbsChannel {
 public:
  VerbsChannel(const ChannelSetup& setup, std::span<const ChannelQueue> queues);
  VerbsChannel(const VerbsChannel&) = delete;
  VerbsChannel& operator=(const VerbsChannel&) = delete;
  ~VerbsChannel();

  /// Both ends call it equally often. Rebuilds the descriptors for a trial, forgets the counts and errors of the last
  /// one, drops stale completions, and clears the byte that stamp_seen looks at.
  void configure(const ChannelJob& job);
  /// Fills every receive queue to its depth. False: the provider refused.
  [[nodiscard]] bool top_up_receives() noexcept;

  [[nodiscard]] bool post(std::uint32_t q, std::uint32_t count, bool last) noexcept {
    auto& queue = queues_[q];
    for (std::uint32_t i = 0; i < count; ++i) {
      auto& request = queue.sends[i];
      const bool signal = ++queue.since_signal >= setup_.cq_mod || (last && i + 1 == count);
      request.wr_id = std::uint64_t{q} << 32U | (signal ? queue.since_signal : 0U);
      request.send_flags = signal ? flags_ | IBV_SEND_SIGNALED : flags_;
      if (signal) queue.since_signal = 0;
      if (job_.credits) request.imm_data = number(queue.sequence++);
      if (segments_ > 1) cut(queue, queue.send_entries[i]);
    }
    return ring(queue, count);
  }

  [[nodiscard]] int poll_send(std::span<Completion> out) noexcept {
    const int found = poll(setup_.send_cq, out.size());
    for (int i = 0; i < found; ++i) {
      const auto& done = completions_[static_cast<std::size_t>(i)];
      if (done.status != IBV_WC_SUCCESS) return fail(done, true);
      out[static_cast<std::size_t>(i)] = {static_cast<std::uint32_t>(done.wr_id >> 32U),
                                          static_cast<std::uint32_t>(done.wr_id), 0, false};
    }
    return found;
  }

  [[nodiscard]] int poll_receive(std::span<Completion> out) noexcept {
    const int found = poll(setup_.receive_cq, out.size());
    for (int i = 0; i < found; ++i) {
      const auto& done = completions_[static_cast<std::size_t>(i)];
      if (done.status != IBV_WC_SUCCESS) return fail(done, false);
      const auto q = static_cast<std::uint32_t>(done.wr_id);
      --queues_[q].receives_posted;
      const auto payload_bytes = done.byte_len - header_bytes_;
      out[static_cast<std::size_t>(i)] =
          job_.credits ? numbered(q, ntohl(done.imm_data), payload_bytes) : Completion{q, 1, 0, false};
      received_bytes_ += payload_bytes;
    }
    return found;
  }

  [[nodiscard]] bool post_receives(std::uint32_t q, std::uint32_t count) noexcept {
    auto& queue = queues_[q];
    while (count > 0) {
      const auto batch = std::min<std::uint32_t>(count, kReceiveChain);
      auto& tail = queue.receives[batch - 1];
      auto* const after = tail.next;
      tail.next = nullptr;
      ibv_recv_wr* bad = nullptr;
      const int error = ibv_post_recv(queue.fixed.qp, queue.receives.data(), &bad);
      tail.next = after;
      if (error != 0) return refuse(error);
      queue.receives_posted += batch;
      count -= batch;
    }
    return true;
  }

  [[nodiscard]] bool post_credit(std::uint32_t q, std::uint32_t sequence) noexcept {
    auto& queue = queues_[q];
    queue.credit.wr_id = std::uint64_t{q} << 32U;
    queue.credit.imm_data = number(sequence);
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(queue.fixed.qp, &queue.credit, &bad);
    return error == 0 || refuse(error);
  }

  /// Around the part of a trial that waits for events; by the thread that will wait.
  void start_waiting() { waiter_.emplace(*setup_.completion_channel); }
  void stop_waiting() noexcept { waiter_.reset(); }
  [[nodiscard]] bool arm() noexcept;
  /// 1 event taken, 0 none came within a tick or two of the waiter, or -1. Only between start_waiting and stop_waiting.
  [[nodiscard]] int wait_event(int timeout_ms) noexcept;

  void stamp(std::uint8_t value) noexcept { *stamp_out_ = std::byte{value}; }
  [[nodiscard]] bool stamp_seen(std::uint8_t value) noexcept {
    return std::atomic_ref<std::byte>{*stamp_in_}.load(std::memory_order_acquire) == std::byte{value};
  }

  /// Payload that arrived since configure, credits aside [bytes].
  [[nodiscard]] std::uint64_t received_bytes() const noexcept { return received_bytes_; }
  /// Datagrams one message is cut into.
  [[nodiscard]] std::uint32_t segments() const noexcept { return segments_; }
  /// Takes every completion there is, keeping the first real error; how many there were.
  std::uint64_t drain() noexcept;
  [[nodiscard]] const WorkError& error() const noexcept { return error_; }
  /// errno of a post that was refused, 0 if none was.
  [[nodiscard]] int refused_with() const noexcept { return refused_with_; }

 private:
  static constexpr std::size_t kPollBatch = 16;
  static constexpr std::uint32_t kReceiveChain = 32;
  static constexpr unsigned kSequenceBits = 24;  // far more than any receive queue is deep
  static constexpr std::uint32_t kSequenceMask = (1U << kSequenceBits) - 1;
  static constexpr std::uint32_t kEpochMask = 0xff;

  struct Queue {
    ChannelQueue fixed;
    std::vector<ibv_send_wr> sends;
    std::vector<ibv_sge> send_entries;
    std::vector<ibv_recv_wr> receives;
    ibv_sge receive_entry{};
    ibv_send_wr credit{};
    std::uint32_t since_signal = 0;
    std::uint32_t sequence = 0;
    std::uint32_t last_sequence = 0;
    std::uint32_t last_credit = 0;
    std::uint32_t segment = 0;
    std::uint32_t receives_posted = 0;
  };

  void build_sends(Queue& queue) const;
  void address(ibv_send_wr& request, const Queue& queue) const noexcept;
  void build_receives(Queue& queue, std::uint64_t q) const;

  [[nodiscard]] bool ring(Queue& queue, std::uint32_t count) noexcept {
    auto& tail = queue.sends[count - 1];
    auto* const after = tail.next;
    tail.next = nullptr;
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(queue.fixed.qp, queue.sends.data(), &bad);
    tail.next = after;
    return error == 0 || refuse(error);
  }

  /// The immediate of a message or credit: the trial's number above the lower bits of `sequence`.
  [[nodiscard]] std::uint32_t number(std::uint32_t sequence) const noexcept {
    return htonl(epoch_ << kSequenceBits | (sequence & kSequenceMask));
  }

  /// Restores the full sequence number of a message or credit. One of an earlier trial, still on its way when this one
  /// began, becomes a credit that says nothing new.
  [[nodiscard]] Completion numbered(std::uint32_t q, std::uint32_t immediate, std::uint32_t payload_bytes) noexcept {
    auto& queue = queues_[q];
    const bool stale = immediate >> kSequenceBits != epoch_;
    const bool is_credit = stale || payload_bytes == 0;
    auto& last = is_credit ? queue.last_credit : queue.last_sequence;
    if (!stale) {
      constexpr unsigned kUnused = 32 - kSequenceBits;
      const auto step = static_cast<std::int32_t>((immediate - last) << kUnused) >> kUnused;
      last += static_cast<std::uint32_t>(step);
    }
    return {q, is_credit ? 0U : 1U, last, is_credit};
  }

  /// Gives one work request its part of the message: full datagrams, then what is left.
  void cut(Queue& queue, ibv_sge& entry) const noexcept {
    const bool is_tail = queue.segment + 1 == segments_;
    entry.addr = reinterpret_cast<std::uintptr_t>(queue.fixed.send_area) +
                 std::uint64_t{queue.segment} * job_.datagram_limit_bytes;
    entry.length = is_tail ? tail_bytes_ : job_.datagram_limit_bytes;
    queue.segment = is_tail ? 0 : queue.segment + 1;
  }

  [[nodiscard]] int poll(ibv_cq* cq, std::size_t room) noexcept {
    return ibv_poll_cq(cq, static_cast<int>(std::min(room, kPollBatch)), completions_.data());
  }
  [[nodiscard]] int fail(const ibv_wc& done, bool sending) noexcept;
  [[nodiscard]] bool refuse(int error) noexcept;

  ChannelSetup setup_;
  std::vector<Queue> queues_;
  ChannelJob job_;
  std::uint32_t epoch_ = 0;
  unsigned flags_ = 0;
  std::uint32_t segments_ = 1;
  std::uint32_t tail_bytes_ = 0;
  std::uint32_t header_bytes_ = 0;
  std::byte* stamp_out_ = nullptr;
  std::byte* stamp_in_ = nullptr;
  std::uint64_t received_bytes_ = 0;
  std::array<ibv_wc, kPollBatch> completions_{};
  WorkError error_;
  int refused_with_ = 0;
  unsigned unacknowledged_send_ = 0;
  unsigned unacknowledged_receive_ = 0;
  std::optional<EventWaiter> waiter_;
};

static_assert(Channel<VerbsChannel> && StampedChannel<VerbsChannel>);

}  // namespace mtuscope::verbs
