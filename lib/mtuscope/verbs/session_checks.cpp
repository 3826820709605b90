// What a session checks outside the timed part: the payload, and the path MTU.
#include <algorithm>

#include "mtuscope/transport/wire.hpp"
#include "mtuscope/verbs/session.hpp"

namespace mtuscope::verbs {
namespace {

/// Enough packets that a stray one does not matter, few enough that 256 B packets take no time.
constexpr std::uint64_t kBurstMessages = 16;
constexpr std::uint64_t kBurstMessageBytes = 65536;

/// Whether messages arrive in the receive area of the end with this role.
bool receives_payload(const Point& point, Role role) noexcept {
  switch (point.pattern) {
    case Pattern::bidirectional:
      return true;
    case Pattern::ping_pong:
      return point.operation != Operation::read || role == Role::initiator;
    case Pattern::stream:
      break;
  }
  return (role == Role::initiator) == (point.operation == Operation::read);
}

/// What of a message is compared: a stamped write ends with its stamp, and of a segmented message only the last
/// datagram is still there.
std::uint64_t compared_bytes(const Point& point, PathMtu path_mtu) noexcept {
  const auto size = wire_size_bytes(point);
  if (point.segmented) return std::min<std::uint64_t>(size, to_bytes(path_mtu));
  return point.operation == Operation::write && point.pattern == Pattern::ping_pong ? size - 1 : size;
}

/// Whether nothing has arrived in an area since it was cleared.
bool is_untouched(std::span<const std::byte> area) noexcept {
  return std::all_of(area.begin(), area.end(), [](std::byte value) { return value == std::byte{0}; });
}

TrialRequest burst_request(const SessionSpec& spec) {
  TrialRequest request;
  request.point.connection = spec.connection;
  request.point.path_mtu = spec.path_mtu;
  request.point.message_size_bytes = spec.connection == Connection::ud ? to_bytes(*spec.path_mtu) : kBurstMessageBytes;
  request.messages = kBurstMessages;
  return request;
}

}  // namespace

void VerbsSession::verify(const TrialRequest& request, TrialReading& reading) {
  const auto mine = reading.status == TrialStatus::ok ? find_difference(request) : std::string{};
  WireWriter writer;
  writer.put(std::string_view{mine});
  const auto answer = swap(*setup_.exchange, writer.bytes(), deadline());
  WireReader reader{answer};
  const auto theirs = reader.get_string();
  reader.expect_end();
  if (reading.status != TrialStatus::ok || (mine.empty() && theirs.empty())) return;
  reading.status = TrialStatus::failed;
  reading.reason = mine.empty() ? "peer " + setup_.exchange->peer_name() + ": " + theirs : mine;
}

std::string VerbsSession::find_difference(const TrialRequest& request) const {
  const auto& point = request.point;
  if (!receives_payload(point, setup_.role)) return {};
  const auto& memory = setup_.arrangement->memory;
  const std::uint64_t used = point.pattern == Pattern::ping_pong ? 1 : request.messages;
  const auto key = payload_key(point, setup_.role == Role::responder);
  for (std::uint32_t q = 0; q < std::min<std::uint64_t>(used, setup_.spec.qp_count); ++q) {
    const std::span<const std::byte> area{memory.receive_area(q), compared_bytes(point, *setup_.spec.path_mtu)};
    // A queue pair whose messages were all lost is reported as loss, not as wrong data.
    const bool lost = counts_arrivals(point) && is_untouched(area);
    if (const auto at = lost ? std::nullopt : first_difference(area, key)) {
      return "payload differs at byte " + std::to_string(*at) + " of " + std::to_string(area.size()) + " on " +
             device().info.name + " (" + describe(point) + "): data was corrupted on its way";
    }
  }
  return {};
}

MtuProof VerbsSession::prove_mtu(Watch& watch) {
  MtuProof proof;
  proof.asked = *setup_.spec.path_mtu;
  proof.local_active = mine_.active_mtu;
  proof.remote_active = theirs_.active_mtu;
  proof.local_read_back = local_read_back_;
  proof.remote_read_back = remote_read_back_;
  if (cm_) proof.route_mtu = cm_->route_mtu();
  prove_by_burst(proof, watch);
  for (const auto& read_back : {local_read_back_, remote_read_back_}) {
    if (!read_back || *read_back == proof.asked) continue;
    proof.verdict = ProofVerdict::contradicted;
    proof.reason = "a queue pair says its path MTU is " + std::to_string(to_bytes(*read_back)) + ", not the " +
                   std::to_string(to_bytes(proof.asked)) + " asked for";
  }
  return proof;
}

void VerbsSession::prove_by_burst(MtuProof& proof, Watch& watch) {
  auto& exchange = *setup_.exchange;
  const auto& spec = setup_.spec;
  const auto request = burst_request(spec);
  if (setup_.role == Role::responder) {
    obey_orders(exchange, 2 * spec.timeout_ns,
                [&] { (void)run_two_ended(*this, request, exchange, watch, spec.timeout_ns); });
    proof.reason = "decided by the initiator";
    return;
  }
  const auto send = [&] {
    order(exchange, BurstOrder::burst, deadline());
    const auto reading = run_two_ended(*this, request, exchange, watch, spec.timeout_ns);
    // What was lost on the way left this port all the same.
    const bool all_sent = reading.sent_messages == request.messages;
    return reading.status == TrialStatus::ok || all_sent ? std::string{} : reading.reason;
  };
  const auto counter = counters::PacketCounter::find(setup_.arrangement->sysfs, device().info.name, device().port);
  const bool one_port = mine_.node_guid == theirs_.node_guid && mine_.port == theirs_.port;
  if (!counter) {
    proof.reason = device().info.name + " has no packet counter";
  } else if (one_port) {
    proof.reason = "both ends are on one port, whose counter mixes both directions";
  } else {
    counters::prove_by_bursts(*counter, spec.connection,
                              {.messages = request.messages,
                               .message_size_bytes = request.point.message_size_bytes,
                               .send = send,
                               .usable = [this] { return usable_; },
                               .patience_ns = spec.timeout_ns / 2},
                              proof);
  }
  order(exchange, BurstOrder::end, deadline());
}

}  // namespace mtuscope::verbs
