#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/channel.hpp"

namespace mtuscope::model {

/// Two hosts with a pipeline of packets between them. The equation is in docs/models.md; values and their source in
/// catalog.cpp.
struct PipelineModel {
  double base_ns = 0;                   ///< per message
  double first_packet_ns_per_byte = 0;  ///< per byte of the first packet, which is stored before it is forwarded
  double ns_per_byte = 0;
  double packet_ns = 0;  ///< per packet after the first
};

/// Time of one message from end to end [ns]. `point` has a path MTU.
[[nodiscard]] constexpr double one_way_ns(const PipelineModel& model, const Point& point) noexcept {
  const auto size_bytes = wire_size_bytes(point);
  const auto mtu = point.path_mtu.value_or(PathMtu::mtu4096);
  const auto first_bytes = std::min<std::uint64_t>(size_bytes, to_bytes(mtu));
  const auto later_packets = packets_per_message(size_bytes, mtu) - 1;
  return model.base_ns + model.first_packet_ns_per_byte * static_cast<double>(first_bytes) +
         model.ns_per_byte * static_cast<double>(size_bytes) + model.packet_ns * static_cast<double>(later_packets);
}

/// A modelled pair seen from the end that begins a ping-pong: every message is answered by one of the same size. It
/// owns simulated time, which moves when a reply is polled; the sender's own completion costs nothing.
class EchoChannel {
 public:
  using Parameters = PipelineModel;

  EchoChannel(const PipelineModel& model, std::uint32_t /*qp_count*/) : model_(model) {}

  void configure(const Point& point) noexcept {
    round_trip_ns_ = 2 * one_way_ns(model_, point);
    incomplete_ = 0;
    unanswered_ = 0;
    *now_ns_ = 0;
  }
  [[nodiscard]] bool post(std::uint32_t /*qp*/, std::uint32_t count, bool /*last*/) noexcept {
    incomplete_ += count;
    unanswered_ += count;
    return true;
  }
  [[nodiscard]] int poll_send(std::span<Completion> out) noexcept {
    if (incomplete_ == 0) return 0;
    out[0] = {.qp = 0, .messages = incomplete_};
    incomplete_ = 0;
    return 1;
  }
  [[nodiscard]] int poll_receive(std::span<Completion> out) noexcept {
    if (unanswered_ == 0) return 0;
    --unanswered_;
    *now_ns_ += round_trip_ns_;
    out[0] = {.qp = 0, .messages = 1};
    return 1;
  }
  [[nodiscard]] bool post_receives(std::uint32_t /*qp*/, std::uint32_t /*count*/) noexcept { return true; }
  [[nodiscard]] bool post_credit(std::uint32_t /*qp*/, std::uint32_t /*sequence*/) noexcept { return true; }
  /// Nothing ever has to be waited for.
  [[nodiscard]] bool arm() noexcept { return true; }
  [[nodiscard]] int wait_event(int /*timeout_ms*/) noexcept { return 1; }

  /// Simulated time [ns]; stays where it is when the channel is moved.
  [[nodiscard]] const double& now_ns() const noexcept { return *now_ns_; }

 private:
  PipelineModel model_;
  double round_trip_ns_ = 0;
  std::uint32_t incomplete_ = 0;
  std::uint32_t unanswered_ = 0;
  std::unique_ptr<double> now_ns_ = std::make_unique<double>(0.0);
};

static_assert(Channel<EchoChannel>);

}  // namespace mtuscope::model
