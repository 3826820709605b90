#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mtuscope/core/latency_histogram.hpp"
#include "mtuscope/core/mtu_proof.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/watch.hpp"

namespace mtuscope {

/// The most that may be asked of a session, by options or by a peer; a device's own limits come on top.
inline constexpr std::uint32_t kMaxDepth = 32768;
inline constexpr std::uint32_t kMaxQpCount = 1024;
inline constexpr std::uint8_t kMaxServiceLevel = 15;
inline constexpr std::uint8_t kMaxRetryCount = 6;  ///< 7 never gives up on some devices
inline constexpr std::uint64_t kMinTimeoutNs = 100'000'000;
inline constexpr std::uint64_t kMaxTimeoutNs = 600'000'000'000U;
/// A work request's length has 32 bits, an HCA's limit is 2^31 [bytes].
inline constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 31U;

/// The part of a session's description that all sessions of a sweep share, as the user's options set it.
struct SessionOptions {
  std::uint32_t tx_depth = 128;
  std::uint32_t rx_depth = 512;
  std::uint32_t post_list = 1;
  std::uint32_t cq_mod = 1;
  std::uint32_t inline_bytes = 0;
  std::uint32_t qp_count = 1;
  WaitMode wait_mode = WaitMode::spin;
  ConnectMethod connect_method = ConnectMethod::tcp;
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t retry_count = kMaxRetryCount;
  bool flow_control = true;  ///< UD and UC send: the sender's window is the receiver's credits
  std::uint64_t timeout_ns =
      10'000'000'000U;  ///< our deadline for any single wait; the QP's own retry budget ends within half
};

/// What both ends must know to bring up one session. Travels over the Exchange.
struct SessionSpec : SessionOptions {
  Connection connection = Connection::rc;
  /// Empty only where the back end has none to set and nobody said which one is in force (MPI).
  std::optional<PathMtu> path_mtu = PathMtu::mtu1024;
  std::uint64_t max_message_size_bytes = 0;
  /// What its messages cycle through, from trial to trial. Empty: every message of an end has the same buffer.
  std::optional<WorkingSet> working_set;
};

/// Writes into `point` those of the options that are part of a point's identity.
inline void state_options(Point& point, const SessionOptions& options) {
  point.tx_depth = options.tx_depth;
  point.rx_depth = options.rx_depth;
  point.post_list = options.post_list;
  point.cq_mod = options.cq_mod;
  point.inline_bytes = options.inline_bytes;
  point.qp_count = options.qp_count;
  point.wait_mode = options.wait_mode;
  point.connect_method = options.connect_method;
}

/// One timed (or warm-up) repetition, the same on both ends.
struct TrialRequest {
  Point point;
  std::uint64_t messages = 0;        ///< per direction; round trips for ping-pong
  std::uint64_t slice_messages = 0;  ///< messages per time slice; 0: no slices
  bool verify_payload = false;       ///< fill before, compare after, both outside the timed part
};

enum class TrialStatus : std::uint8_t { ok, failed, peer_lost, interrupted };

/// What one repetition gave, both ends combined, as the initiator sees it.
struct TrialReading {
  TrialStatus status = TrialStatus::ok;
  std::string reason;          ///< why it failed, with the WC status in words
  std::uint64_t messages = 0;  ///< as core's Trial counts them
  std::uint64_t elapsed_ns = 0;
  std::optional<std::uint64_t> sender_elapsed_ns;
  std::optional<std::uint64_t> sent_messages;
  std::optional<std::uint64_t> received_messages;
  std::optional<double> min_slice_bytes_per_s;
  std::shared_ptr<const LatencyHistogram> latency;
};

/// A reading of a trial that failed as a whole.
[[nodiscard]] inline TrialReading failed_reading(std::string reason) {
  TrialReading reading;
  reading.status = TrialStatus::failed;
  reading.reason = std::move(reason);
  return reading;
}

/// One connected pair at one path MTU, seen from one end. Virtual calls happen per trial, never per message.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  /// Runs one repetition; both ends call it with the same request. Failures of the run are in the reading; throws
  /// PeerError only if the out-of-band connection itself is gone.
  [[nodiscard]] virtual TrialReading run(const TrialRequest& request, Watch& watch) = 0;
  /// The untimed proof burst, for a session whose path MTU is given; both ends call it. The initiator's result holds
  /// what both know.
  [[nodiscard]] virtual MtuProof prove_mtu(Watch& watch) = 0;
  /// False after a failure that left the queue pairs in error: the session must be opened anew.
  [[nodiscard]] virtual bool usable() const noexcept = 0;
};

}  // namespace mtuscope
