#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mtuscope/transport/session.hpp"
#include "mtuscope/transport/slices.hpp"
#include "mtuscope/transport/stream_kernel.hpp"

namespace mtuscope {

/// A session of a back end without a peer: the stream sender's kernel over `C`, which must also offer
/// `configure(const Point&)`, called before the clock starts.
template <SendChannel C, Clock K>
class PeerlessSession final : public Session {
 public:
  PeerlessSession(C channel, K clock, SessionSpec spec)
      : channel_(std::move(channel)), clock_(std::move(clock)), spec_(std::move(spec)), progress_(spec_.qp_count) {}

  [[nodiscard]] TrialReading run(const TrialRequest& request, Watch& watch) override {
    channel_.configure(request.point);
    const StreamJob job{.messages = request.messages,
                        .tx_depth = spec_.tx_depth,
                        .rx_depth = spec_.rx_depth,
                        .post_list = spec_.post_list,
                        .slice_messages = request.slice_messages};
    // Event and yield have no meaning without a peer: nothing is ever waited for.
    const auto result = run_stream<WaitMode::spin, StreamRole{.sends = true}>(channel_, clock_, job,
                                                                              {progress_, slice_ends_ns_}, watch);
    if (result.status == KernelStatus::interrupted) {
      auto reading = failed_reading("interrupted");
      reading.status = TrialStatus::interrupted;
      return reading;
    }
    if (result.status != KernelStatus::ok) return failed_reading("the back end stopped completing messages");
    TrialReading reading;
    reading.messages = result.sent;
    reading.elapsed_ns = result.sent_ns - result.begin_ns;
    reading.min_slice_bytes_per_s = slowest_slice(std::span{slice_ends_ns_}.first(result.slices),
                                                  request.slice_messages * request.point.message_size_bytes);
    return reading;
  }

  [[nodiscard]] MtuProof prove_mtu(Watch& /*watch*/) override {
    MtuProof proof;
    proof.asked = *spec_.path_mtu;
    proof.reason = "nothing is sent over a port by this back end";
    return proof;
  }
  [[nodiscard]] bool usable() const noexcept override { return true; }

 private:
  C channel_;
  K clock_;
  SessionSpec spec_;
  std::vector<QpProgress> progress_;
  std::array<std::uint64_t, kMaxSlices> slice_ends_ns_{};
};

}  // namespace mtuscope
