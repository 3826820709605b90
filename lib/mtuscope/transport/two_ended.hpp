#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "mtuscope/transport/exchange.hpp"
#include "mtuscope/transport/idle.hpp"
#include "mtuscope/transport/session.hpp"
#include "mtuscope/transport/watch.hpp"

namespace mtuscope {

/// One end's half of a trial. Counts are in messages (a segmented message counts once all its bytes are there).
struct EndReading {
  KernelStatus status = KernelStatus::ok;
  std::string reason;      ///< when status is not ok: in words, with what to do next
  std::uint64_t sent = 0;  ///< or round trips
  std::uint64_t received = 0;
  std::uint64_t send_elapsed_ns = 0;     ///< first post to last completion
  std::uint64_t receive_elapsed_ns = 0;  ///< first to last arrival
  std::optional<double> min_slice_bytes_per_s;
  std::shared_ptr<const LatencyHistogram> latency;  ///< not sent to the peer
};

/// What a session contributes to a two-ended trial.
class TrialEnd {
 public:
  TrialEnd() = default;
  TrialEnd(const TrialEnd&) = delete;
  TrialEnd& operator=(const TrialEnd&) = delete;
  virtual ~TrialEnd() = default;
  /// Before the barrier: descriptors, receives, payload. Throws RunError.
  virtual void prepare(const TrialRequest& request) = 0;
  /// After the barrier: the timed part, and after it (untimed) the comparison of the payload.
  [[nodiscard]] virtual EndReading execute(const TrialRequest& request, Watch& watch) = 0;
};

/// Watches the peer's exchange, our deadline and the user's wish to stop.
class ExchangeWatch final : public Watch {
 public:
  ExchangeWatch(Exchange* exchange, std::uint64_t timeout_ns, const std::atomic<bool>& stop) noexcept
      : Watch(stop), exchange_(exchange), timeout_ns_(timeout_ns) {}
  [[nodiscard]] WatchVerdict check(bool progressed) noexcept override;

 private:
  Exchange* exchange_;  // null: no peer
  std::uint64_t timeout_ns_;
  std::uint64_t last_progress_ns_ = 0;  // 0: never looked; what came before the first look is no wait
};

/// How long a passive end waits for an active one to finish a trial; the connection's own liveness ends it sooner.
inline constexpr std::uint64_t kLongestTrialNs = 3'600'000'000'000U;

/// Whether the bandwidth of these points is what arrived at the receiver (UC and UD send) and not what the sender
/// completed.
[[nodiscard]] bool counts_arrivals(const Point& point) noexcept;
/// Whether the responder's CPU takes no part in the timed section (stream of writes or reads, ping-pong of reads).
[[nodiscard]] bool responder_is_passive(const Point& point) noexcept;

/// Both ends of one trial: prepare, barrier, execute, swap of readings. At the initiator the result combines both ends;
/// at the responder only its status and reason mean something. Throws PeerError if the exchange itself fails,
/// and RunError at a passive end that the user stops.
[[nodiscard]] TrialReading run_two_ended(TrialEnd& end, const TrialRequest& request, Exchange& exchange, Watch& watch,
                                         std::uint64_t timeout_ns);

/// Untimed bursts for the proof of the path MTU, as many as the initiator finds it needs: it orders each of them, and
/// the end; the responder calls `burst` for each order. Throws PeerError.
enum class BurstOrder : std::uint8_t { burst, end };
void order(Exchange& exchange, BurstOrder order, Deadline deadline);
/// `patience_ns`: between two orders.
void obey_orders(Exchange& exchange, std::uint64_t patience_ns, const std::function<void()>& burst);

}  // namespace mtuscope
