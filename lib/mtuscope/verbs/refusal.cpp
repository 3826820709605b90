#include "mtuscope/verbs/refusal.hpp"

#include <algorithm>

#include "mtuscope/transport/stream_kernel.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "mtuscope/verbs/channel.hpp"
#include "mtuscope/verbs/connect/queue_pair.hpp"
#include "mtuscope/verbs/registered_memory.hpp"

namespace mtuscope::verbs {
namespace {

using Reason = std::optional<std::string>;

/// A work request's length is a 32-bit number, and the specification stops at 2^31 (ibv_sge; IBA 9.2).
constexpr std::uint64_t kMaxWorkRequestBytes = std::uint64_t{1} << 31U;

std::string number(std::uint64_t value) { return std::to_string(value); }

/// "4096 queue pairs are above the 1024 of fake0 port 1; lower --qp".
Reason above(std::uint64_t asked, const std::string& what, std::uint64_t limit, const PortLimits& limits,
             const std::string& way_out) {
  if (limit == 0 || asked <= limit) return std::nullopt;
  return number(asked) + " " + what + " are above the " + number(limit) + " of " + limits.name + "; " + way_out;
}

/// What the queue pairs of one session take.
struct QueueDemand {
  std::uint64_t sends = 0;  ///< entries per queue pair
  std::uint64_t receives = 0;
  std::uint64_t qp_count = 1;
};

Reason refuse_queues(const QueueDemand& demand, const PortLimits& limits) {
  if (auto reason = above(demand.sends, "entries of a send queue, those for credits included,",
                          limits.max_work_requests, limits, "lower --tx-depth")) {
    return reason;
  }
  if (auto reason =
          above(demand.receives, "entries of a receive queue", limits.max_work_requests, limits, "lower --rx-depth")) {
    return reason;
  }
  const bool by_sends = demand.sends > demand.receives;
  if (auto reason = above(std::max(demand.sends, demand.receives) * demand.qp_count, "entries of a completion queue",
                          limits.max_completions, limits,
                          std::string{"lower "} + (by_sends ? "--tx-depth" : "--rx-depth") + " or --qp")) {
    return reason;
  }
  return above(demand.qp_count, "queue pairs", limits.max_queue_pairs, limits, "lower --qp");
}

Reason refuse_message(std::uint64_t size_bytes, const PortLimits& limits) {
  return above(size_bytes, "B in one message", limits.max_message_size_bytes, limits, "lower --size");
}

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
  if (point.working_set) return "verbs does not cycle through blocks yet: leave --blocks out";
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
  if (point.connection != Connection::ud) return refuse_message(size, limits);
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
  const auto sends = tx_depth + (point.connection == Connection::rc ? 0 : kCreditSends);
  return refuse_queues({sends, rx_depth, qp_count}, limits);
}

std::uint64_t positive(int value) noexcept { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

}  // namespace

PortLimits limits_of(const OpenDevice& device) {
  return {device.info.name + " port " + number(device.port),
          device.port_info().active_mtu,
          device.max_message_size_bytes,
          positive(device.attributes.max_qp_wr),
          positive(device.attributes.max_qp),
          positive(device.attributes.max_cqe),
          device.attributes.max_mr_size};
}

Reason refuse(const Point& point, const PortLimits& limits, const Environment* peer) {
  for (const auto rule : {&refuse_combination, &refuse_mtu, &refuse_size, &refuse_depths}) {
    if (auto reason = rule(point, limits, peer)) return reason;
  }
  return std::nullopt;
}

Reason refuse_credits(const SessionSpec& spec) {
  if (!spec.flow_control || (spec.connection != Connection::ud && spec.connection != Connection::uc))
    return std::nullopt;
  const auto needed = std::max(kMinCreditDepth, spec.post_list + kCreditReserve);
  if (spec.rx_depth >= needed) return std::nullopt;
  return "flow control needs a --rx-depth of at least " + number(needed) + ", or --no-flow-control";
}

Reason refuse_sessions(std::span<const SessionSpec> sessions, const PortLimits& limits) {
  std::uint64_t queue_pairs = 0;
  std::uint64_t message_size_bytes = 0;
  std::uint32_t most_queue_pairs = 1;
  for (const auto& spec : sessions) {
    if (auto reason = refuse_queues({send_queue_depth(spec), spec.rx_depth, spec.qp_count}, limits)) return reason;
    if (auto reason = refuse_credits(spec)) return reason;
    if (spec.connection != Connection::ud) {
      if (auto reason = refuse_message(spec.max_message_size_bytes, limits)) return reason;
    }
    queue_pairs += spec.qp_count;
    most_queue_pairs = std::max(most_queue_pairs, spec.qp_count);
    message_size_bytes = std::max(message_size_bytes, spec.max_message_size_bytes);
  }
  if (auto reason = above(queue_pairs, "queue pairs for " + number(sessions.size()) + " sessions",
                          limits.max_queue_pairs, limits, "lower --qp, or give fewer of --mtu and --connection")) {
    return reason;
  }
  return above(RegisteredMemory::total_bytes(most_queue_pairs, message_size_bytes), "B in one registered region",
               limits.max_region_bytes, limits, "lower --size or --qp");
}

}  // namespace mtuscope::verbs
