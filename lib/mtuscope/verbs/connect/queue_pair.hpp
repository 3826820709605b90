#pragma once
#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "mtuscope/core/path_mtu.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/session.hpp"
#include "mtuscope/verbs/device/device.hpp"
#include "mtuscope/verbs/handles.hpp"

namespace mtuscope::verbs {

/// The attributes ibv_modify_qp takes at each step (ibv_modify_qp manual page):
///   INIT  RC, UC: state, pkey index, port, access flags     UD: state, pkey index, port, qkey
///   RTR   RC: state, av, path mtu, dest qpn, rq psn, max dest rd atomic, min rnr timer   UC: the first five   UD:
///   state RTS   RC: state, sq psn, timeout, retry cnt, rnr retry, max rd atomic                UC, UD: state, sq psn

/// Where the other end is.
struct Destination {
  std::uint16_t lid = 0;
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t qp_number = 0;
  std::uint32_t packet_sequence = 0;
};

/// How many reads may be under way: ours as initiator, the peer's at us. Both ends' limits are already in it.
struct ReadDepth {
  std::uint8_t initiator = 1;
  std::uint8_t responder = 1;
};

/// The QP's own retries: after (count + 1) timeouts without an answer it gives up.
struct RetryBudget {
  std::uint8_t count = 6;
  std::uint8_t timeout = 14;  ///< exponent: 4.096 us x 2^timeout (InfiniBand Architecture Specification, 9.7.6.1.3)
};

/// Real devices wait longer than 4.096 us x 2^timeout x (count + 1): the specification allows four times that, and this
/// is twice as much again. (Soft-RoCE with all packets lost: 1.3 times. With its link down it reports nothing for
/// seconds, whatever the timeout: there our own deadline ends the wait.)
inline constexpr std::uint64_t kRetrySlowness = 8;

/// The longest retry timeout whose whole budget, kRetrySlowness included, ends within half of `deadline_ns`. At most 14
/// (67 ms, perftest's; with 12 Soft-RoCE repeats packets for no reason when several queue pairs are busy) and at least
/// 8 (1 ms). A `retry_count` of 7 never gives up on some devices, so 6 is the most that is taken.
[[nodiscard]] RetryBudget choose_retry_budget(std::uint64_t deadline_ns, std::uint8_t retry_count) noexcept;

/// A new queue pair and the inline limit the device granted, which may differ from what was asked [bytes].
struct CreatedQueuePair {
  QueuePair qp;
  std::uint32_t inline_bytes = 0;
};
[[nodiscard]] CreatedQueuePair create_queue_pair(ibv_pd& pd, const SessionSpec& spec, ibv_cq& send_cq,
                                                 ibv_cq& receive_cq, const Where& where);

/// Send queue entries a queue pair of this spec needs: tx depth and the credits.
[[nodiscard]] std::uint32_t send_queue_depth(const SessionSpec& spec) noexcept;

/// Everything that takes a queue pair from RESET to RTS.
class QueuePairStates {
 public:
  QueuePairStates(const OpenDevice& device, const SessionSpec& spec) noexcept : device_(device), spec_(spec) {}

  void to_init(ibv_qp& qp) const;
  /// Throws VerbsError with a hint. The caller has checked that path MTU <= both active MTUs: Soft-RoCE accepts a
  /// larger one and then spins.
  void to_rtr(ibv_qp& qp, const Destination& destination, ReadDepth reads) const;
  void to_rts(ibv_qp& qp, std::uint32_t packet_sequence, ReadDepth reads) const;
  /// How to reach `destination`; a GRH is used on Ethernet, and on InfiniBand between subnets.
  [[nodiscard]] ibv_ah_attr address(const Destination& destination) const;

 private:
  const OpenDevice& device_;
  const SessionSpec& spec_;
};

/// The path MTU the queue pair says it has (RC, UC).
[[nodiscard]] PathMtu read_back_path_mtu(ibv_qp& qp, const Where& where);
/// Moves a queue pair to ERR so that everything outstanding is flushed; a failure goes to the log.
void to_error(ibv_qp& qp) noexcept;
/// What to do when RTR was refused with this errno; empty if nothing is known.
[[nodiscard]] std::string rtr_hint(int error_number, bool ethernet);

}  // namespace mtuscope::verbs
