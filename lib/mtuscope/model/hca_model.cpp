#include "mtuscope/model/hca_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "mtuscope/core/error.hpp"

namespace mtuscope::model {

namespace {
constexpr double kFsPerNs = 1e6;

std::int64_t to_fs(double ns) { return std::llround(ns * kFsPerNs); }
}  // namespace

MessageEngine::Packet MessageEngine::make_packet(const HcaParameters& parameters, std::uint64_t size_bytes) {
  const auto size = static_cast<double>(size_bytes);
  const auto on_link_ns = (size + parameters.wire_header_bytes) * parameters.link_ns_per_byte;
  const auto blocks =
      (size_bytes + parameters.credit_header_bytes + parameters.credit_block_bytes - 1) / parameters.credit_block_bytes;
  if (blocks > parameters.credit_blocks) {
    throw ConfigError("model: a packet of " + std::to_string(size_bytes) + " B needs " + std::to_string(blocks) +
                      " credit blocks and the receiver has " + std::to_string(parameters.credit_blocks) +
                      "; use a smaller path MTU");
  }
  return {to_fs(parameters.packet_ns + std::max(size * parameters.bus_read_ns_per_byte, on_link_ns)),
          to_fs(size * parameters.bus_write_ns_per_byte), static_cast<std::uint32_t>(blocks)};
}

MessageEngine::MessageEngine(const HcaParameters& parameters, std::uint64_t wire_size_bytes,
                             std::uint64_t packet_limit_bytes)
    : message_overlapped_fs_(to_fs(parameters.message_overlapped_ns)),
      message_serial_fs_(to_fs(parameters.message_serial_ns)),
      credit_blocks_(parameters.credit_blocks),
      full_count_((wire_size_bytes - 1) / packet_limit_bytes),
      full_(make_packet(parameters, std::min(wire_size_bytes, packet_limit_bytes))),
      last_(make_packet(parameters, wire_size_bytes - full_count_ * packet_limit_bytes)) {
  // Every packet holds at least one block, so no more than credit_blocks of them are ever outstanding.
  ring_.resize(std::bit_ceil(std::size_t{credit_blocks_} + 1));
  state_before_.reserve(ring_.size());
}

double MessageEngine::next_interval_ns() noexcept {
  if (!steady_) simulate_message();
  return interval_ns_;
}

void MessageEngine::simulate_message() noexcept {
  now_fs_ = message_overlapped_fs_;
  wait_for_credits(full_count_ > 0 ? full_ : last_);
  now_fs_ += message_serial_fs_;
  for (std::uint64_t i = 0; i < full_count_; ++i) transmit(full_);
  transmit(last_);
  finish_message();
}

void MessageEngine::wait_for_credits(const Packet& packet) noexcept {
  while (used_blocks_ + packet.blocks > credit_blocks_) {
    now_fs_ = std::max(now_fs_, ring_[oldest_].drained_fs);
    release_oldest();
  }
}

void MessageEngine::transmit(const Packet& packet) noexcept {
  wait_for_credits(packet);
  now_fs_ += packet.send_fs;
  last_drained_fs_ = std::max(now_fs_, last_drained_fs_) + packet.drain_fs;
  ring_[(oldest_ + outstanding_) & (ring_.size() - 1)] = {last_drained_fs_, packet.blocks};
  ++outstanding_;
  used_blocks_ += packet.blocks;
}

void MessageEngine::finish_message() noexcept {
  while (outstanding_ > 0 && ring_[oldest_].drained_fs <= now_fs_) release_oldest();
  last_drained_fs_ = std::max(std::int64_t{0}, last_drained_fs_ - now_fs_);
  // What is outstanding is the whole state: the receiver is busy until the last of it has drained.
  steady_ = state_before_.size() == outstanding_;
  state_before_.resize(outstanding_);
  for (std::size_t i = 0; i < outstanding_; ++i) {
    auto& packet = ring_[(oldest_ + i) & (ring_.size() - 1)];
    packet.drained_fs -= now_fs_;
    steady_ = steady_ && packet == state_before_[i];
    state_before_[i] = packet;
  }
  interval_ns_ = static_cast<double>(now_fs_) / kFsPerNs;
}

void MessageEngine::release_oldest() noexcept {
  used_blocks_ -= ring_[oldest_].blocks;
  oldest_ = (oldest_ + 1) & (ring_.size() - 1);
  --outstanding_;
}

MessageStream::MessageStream(const HcaModel& model, const Point& point) {
  const auto is_mpi = point.connection == Connection::mpi;
  if (is_mpi && point.header_bytes > 0 && point.message_size_bytes <= model.mpi.small_message_max_bytes) {
    host_interval_ns_ = model.mpi.small_message_ns;
    return;
  }
  if (is_mpi) {
    host_interval_ns_ = model.mpi.host_ns + model.mpi.host_ns_per_byte * static_cast<double>(point.message_size_bytes);
  }
  const auto is_datagram = point.connection == Connection::ud;
  const auto wire = wire_size_bytes(point) + (is_datagram ? model.hca.datagram_header_bytes : 0);
  const auto limit = is_datagram || !point.path_mtu ? wire : to_bytes(*point.path_mtu);
  engine_.emplace(model.hca, wire, limit);
}

double MessageStream::next_completion_ns() noexcept {
  host_now_ns_ += host_interval_ns_;
  if (engine_) engine_now_ns_ += engine_->next_interval_ns();
  return std::max(host_now_ns_, engine_now_ns_);
}

}  // namespace mtuscope::model
