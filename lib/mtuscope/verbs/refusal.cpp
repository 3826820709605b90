#include "mtuscope/verbs/refusal.hpp"

#include <algorithm>

#include "mtuscope/transport/stream_kernel.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "mtuscope/verbs/channel.hpp"

namespace mtuscope::verbs {
namespace {

using Reason = std::optional<std::string>;

/// A work request's length is a 32-bit number, and the specification stops at 2^31 (ibv_sge; IBA 9.2).
constexpr std::uint64_t kMaxWorkRequestBytes = std::uint64_t{1} << 31U;

std::string number(std::uint64_t value) { return std::to_string(value); }

Reason refuse_combination(const Point& point, const PortLimits&, const Environment*) {
  const auto connection = point.connection;
  if (connection != Connection::rc && connection != Connection::uc && connection != Connection::ud) {
    return "verbs has no connection '" + std::string{to_string(connection)} + "'";
  }
  if (point.operation == Operation::read && connection == Connection::uc) {
    return "UC has no RDMA read: an unreliable connection gets no responses";
  }
  if (point.operation != Operation::send && connection == Connection::ud) {
    return "UD has no RDMA " + std::string{to_string(point.operation)} + ": datagrams can only be sent";
  }
  if (point.operation == Operation::write && point.pattern == Pattern::ping_pong &&
      point.wait_mode == WaitMode::event) {
    return "a ping-pong of RDMA writes must poll: a write gives the receiver no completion event";
  }
  if (point.connect_method == ConnectMethod::cm && connection != Connection::rc) {
    return "--connect cm brings up RC only; use --connect tcp";
  }
  if (point.working_set && point.working_set->block_count > 1) {
    return "verbs cycles through one block per queue pair only";
  }
  return std::nullopt;
}

Reason refuse_mtu(const Point& point, const PortLimits& limits, const Environment* peer) {
  if (!point.path_mtu) return "no path MTU is given";
  const auto above = [&](std::optional<PathMtu> active, const std::string& whose) -> Reason {
    if (!active || to_bytes(*point.path_mtu) <= to_bytes(*active)) return std::nullopt;
    return "path MTU " + number(to_bytes(*point.path_mtu)) + " is above the active MTU " + number(to_bytes(*active)) +
           " of " + whose;
  };
  if (auto reason = above(limits.active_mtu, limits.name)) return reason;
  if (peer == nullptr || !peer->device || !peer->port_number) return std::nullopt;
  for (const auto& port : peer->device->ports) {
    if (port.number != *peer->port_number) continue;
    return above(port.active_mtu, "the peer's " + peer->device->name + " port " + number(port.number));
  }
  return std::nullopt;
}

Reason refuse_size(const Point& point, const PortLimits& limits, const Environment*) {
  const auto size = wire_size_bytes(point);
  if (size == 0) return "a message must have at least 1 byte";
  if (size > kMaxWorkRequestBytes) return number(size) + " B is above 2^31 B, the most a work request can carry";
  if (point.connection != Connection::ud) {
    if (limits.max_message_size_bytes == 0 || size <= limits.max_message_size_bytes) return std::nullopt;
    return number(size) + " B is above the largest message of " + limits.name + ", " +
           number(limits.max_message_size_bytes) + " B";
  }
  if (size <= to_bytes(*point.path_mtu)) return std::nullopt;
  if (!point.segmented) {
    return number(size) + " B is above the datagram limit of " + number(to_bytes(*point.path_mtu)) +
           " B; --segment cuts messages into datagrams";
  }
  if (point.pattern == Pattern::ping_pong)
    return "a ping-pong of segmented messages is not defined: a reply answers one datagram";
  return std::nullopt;
}

Reason refuse_depths(const Point& point, const PortLimits& limits, const Environment*) {
  const std::uint64_t tx_depth = point.tx_depth.value_or(1);
  const std::uint64_t rx_depth = point.rx_depth.value_or(1);
  const std::uint64_t post_list = point.post_list.value_or(1);
  const std::uint64_t cq_mod = point.cq_mod.value_or(1);
  const std::uint64_t qp_count = point.qp_count.value_or(1);
  if (tx_depth == 0 || rx_depth == 0 || post_list == 0 || cq_mod == 0 || qp_count == 0) {
    return "depths, --post-list, --cq-mod and --qp must be at least 1";
  }
  if (cq_mod + post_list - 1 > tx_depth) {
    return "--cq-mod " + number(cq_mod) + " with --post-list " + number(post_list) +
           " needs a --tx-depth of at least " + number(cq_mod + post_list - 1) +
           ", or the queue fills before anything is signaled";
  }
  const bool credits = counts_arrivals(point) && point.pattern != Pattern::ping_pong;
  if (credits && (rx_depth < kMinCreditDepth || rx_depth < post_list + kCreditReserve)) {
    return "flow control needs a --rx-depth of at least " +
           number(std::max<std::uint64_t>(kMinCreditDepth, post_list + kCreditReserve));
  }
  const auto sends = tx_depth + (point.connection == Connection::rc ? 0 : kCreditSends);
  if (limits.max_work_requests != 0 && std::max(sends, rx_depth) > limits.max_work_requests) {
    return "queues of " + number(std::max(sends, rx_depth)) + " entries are above the " +
           number(limits.max_work_requests) + " of " + limits.name + "; lower --tx-depth or --rx-depth";
  }
  if (limits.max_queue_pairs != 0 && qp_count > limits.max_queue_pairs) {
    return number(qp_count) + " queue pairs are above the " + number(limits.max_queue_pairs) + " of " + limits.name;
  }
  if (limits.max_completions != 0 && std::max(sends, rx_depth) * qp_count > limits.max_completions) {
    return "completion queues of " + number(std::max(sends, rx_depth) * qp_count) + " entries are above the " +
           number(limits.max_completions) + " of " + limits.name + "; lower the depths or --qp";
  }
  return std::nullopt;
}

std::uint64_t positive(int value) noexcept { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

}  // namespace

PortLimits limits_of(const OpenDevice& device) {
  return {device.info.name + " port " + number(device.port),
          device.port_info().active_mtu,
          device.max_message_size_bytes,
          positive(device.attributes.max_qp_wr),
          positive(device.attributes.max_qp),
          positive(device.attributes.max_cqe)};
}

Reason refuse(const Point& point, const PortLimits& limits, const Environment* peer) {
  for (const auto rule : {&refuse_combination, &refuse_mtu, &refuse_size, &refuse_depths}) {
    if (auto reason = rule(point, limits, peer)) return reason;
  }
  return std::nullopt;
}

}  // namespace mtuscope::verbs
