#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/transport/ping_pong_kernel.hpp"
#include "mtuscope/transport/session.hpp"
#include "mtuscope/transport/slices.hpp"
#include "mtuscope/transport/stream_kernel.hpp"

namespace mtuscope {

/// A session of a back end without a peer: the stream sender's kernel over `C`, which must also offer
/// `configure(const Point&)`, called before the clock starts. Over a channel that receives too, and so answers itself,
/// ping-pongs of sends run as well.
template <SendChannel C, Clock K>
class PeerlessSession final : public Session {
 public:
  PeerlessSession(C channel, K clock, const SessionSpec& spec)
      : channel_(std::move(channel)), clock_(std::move(clock)), spec_(spec), progress_(spec_.qp_count) {}

  [[nodiscard]] TrialReading run(const TrialRequest& request, Watch& watch) override {
    channel_.configure(request.point);
    if constexpr (Channel<C>) {
      if (request.point.pattern == Pattern::ping_pong) return run_ping_pong(request, watch);
    }
    return run_stream_of(request, watch);
  }

  /// Throws ConfigError if the session's path MTU was not stated.
  [[nodiscard]] MtuProof prove_mtu(Watch& /*watch*/) override {
    if (!spec_.path_mtu) throw ConfigError("no path MTU was stated for this session, so there is none to prove");
    MtuProof proof;
    proof.asked = *spec_.path_mtu;
    proof.reason = "nothing is sent over a port by this back end";
    return proof;
  }
  [[nodiscard]] bool usable() const noexcept override { return true; }

 private:
  // Event and yield have no meaning without a peer: nothing is ever waited for.
  [[nodiscard]] TrialReading run_stream_of(const TrialRequest& request, Watch& watch) {
    const StreamJob job{.messages = request.messages,
                        .tx_depth = spec_.tx_depth,
                        .rx_depth = spec_.rx_depth,
                        .post_list = spec_.post_list,
                        .slice_messages = request.slice_messages};
    const auto result = run_stream<WaitMode::spin, StreamRole{.sends = true}>(channel_, clock_, job,
                                                                              {progress_, slice_ends_ns_}, watch);
    if (auto failure = failure_of(result.status)) return *failure;
    TrialReading reading;
    reading.messages = result.sent;
    reading.elapsed_ns = result.sent_ns - result.begin_ns;
    reading.min_slice_bytes_per_s = slowest_slice(std::span{slice_ends_ns_}.first(result.slices),
                                                  request.slice_messages * request.point.message_size_bytes);
    return reading;
  }

  [[nodiscard]] TrialReading run_ping_pong(const TrialRequest& request, Watch& watch) {
    auto latency = std::make_shared<LatencyHistogram>();
    PingPongKernel<WaitMode::spin, PingPongKind::send, C, K> kernel{channel_, clock_, request.messages, spec_.tx_depth,
                                                                    watch};
    const auto result = kernel.initiate(*latency);
    if (auto failure = failure_of(result.status)) return *failure;
    TrialReading reading;
    reading.messages = result.round_trips;
    reading.elapsed_ns = result.elapsed_ns;
    reading.latency = std::move(latency);
    return reading;
  }

  /// The reading of a kernel that did not end well; nothing if it did.
  [[nodiscard]] static std::optional<TrialReading> failure_of(KernelStatus status) {
    if (status == KernelStatus::ok) return std::nullopt;
    if (status != KernelStatus::interrupted) return failed_reading("the back end stopped completing messages");
    auto reading = failed_reading("interrupted");
    reading.status = TrialStatus::interrupted;
    return reading;
  }

  C channel_;
  K clock_;
  SessionSpec spec_;
  std::vector<QpProgress> progress_;
  std::array<std::uint64_t, kMaxSlices> slice_ends_ns_{};
};

}  // namespace mtuscope
