#include "mtuscope/mpi/mtu_proof.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/core/path_mtu.hpp"
#include "mtuscope/counters/burst.hpp"
#include "mtuscope/counters/packet_counter.hpp"
#include "mtuscope/counters/sysfs.hpp"
#include "mtuscope/mpi/session.hpp"

namespace mtuscope::mpi {
namespace {

TrialRequest burst_request(const SessionSpec& spec) {
  TrialRequest request;
  request.point.connection = spec.connection;
  request.point.path_mtu = spec.path_mtu;
  request.point.message_size_bytes = kBurstMessageBytes;
  request.messages = kBurstMessages;
  return request;
}

std::vector<std::optional<std::uint64_t>> read_all(const std::vector<counters::PacketCounter>& ports) {
  std::vector<std::optional<std::uint64_t>> values;
  values.reserve(ports.size());
  for (const auto& port : ports) values.push_back(port.read_fresh());
  return values;
}

}  // namespace

std::optional<std::size_t> choose_port(std::span<const std::uint64_t> counted_packets, bool same_host,
                                       std::string& reason) {
  // Half of the packets that the largest path MTU makes of a burst.
  constexpr auto kFewestPackets = kBurstMessages * packets_per_message(kBurstMessageBytes, PathMtu::mtu4096) / 2;
  const auto most = std::max_element(counted_packets.begin(), counted_packets.end());
  if (most == counted_packets.end() || *most < kFewestPackets) {
    reason = "no port of this host counted the packets: MPI uses another network, or shared memory";
    return std::nullopt;
  }
  const auto moved = std::count_if(counted_packets.begin(), counted_packets.end(), [](auto n) { return n > 0; });
  const auto sharing =
      std::count_if(counted_packets.begin(), counted_packets.end(), [&](auto n) { return n >= *most / 2; });
  if (sharing > 1) {
    reason = "the packets left by several ports: let the MPI library use one only (UCX: UCX_MAX_RNDV_RAILS=1)";
    return std::nullopt;
  }
  if (same_host && moved == 1) {
    reason = "both ranks are on one host and one port, whose counter mixes both directions";
    return std::nullopt;
  }
  return static_cast<std::size_t>(most - counted_packets.begin());
}

MtuProof MpiSession::prove_mtu(Watch& watch) {
  MtuProof proof;
  proof.asked = *setup_.spec.path_mtu;
  const auto my_host = read_host_info().hostname;
  const auto answer = swap(*setup_.exchange, std::as_bytes(std::span{my_host}), deadline());
  const std::string their_host{reinterpret_cast<const char*>(answer.data()), answer.size()};
  prove_by_burst(proof, my_host == their_host, watch);
  if (proof.verdict == ProofVerdict::not_provable) proof.reason = "asked, not proved: " + proof.reason;
  return proof;
}

void MpiSession::prove_by_burst(MtuProof& proof, bool same_host, Watch& watch) {
  auto& exchange = *setup_.exchange;
  const auto request = burst_request(setup_.spec);
  if (setup_.role == Role::responder) {
    obey_orders(exchange, 2 * setup_.spec.timeout_ns, [&] { (void)run_checked(request, watch); });
    proof.reason = "decided by the initiator";
    return;
  }
  const auto send = [&] {
    order(exchange, BurstOrder::burst, deadline());
    const auto reading = run_checked(request, watch);
    return reading.status == TrialStatus::ok ? std::string{} : reading.reason;
  };
  const auto ports = counters::PacketCounter::all(counters::Sysfs{});
  if (ports.empty()) {
    proof.reason = "no port of this host has a packet counter";
  } else if (const auto port = find_port(ports, same_host, send, proof.reason)) {
    counters::prove_by_bursts(ports[*port], setup_.spec.connection,
                              {.messages = kBurstMessages,
                               .message_size_bytes = kBurstMessageBytes,
                               .send = send,
                               .usable = [this] { return usable_; },
                               .patience_ns = setup_.spec.timeout_ns / 2},
                              proof);
  }
  order(exchange, BurstOrder::end, deadline());
}

std::optional<std::size_t> MpiSession::find_port(const std::vector<counters::PacketCounter>& ports, bool same_host,
                                                 const std::function<std::string()>& send, std::string& reason) {
  const auto before = read_all(ports);
  if (reason = send(); !reason.empty()) return std::nullopt;
  const auto after = read_all(ports);
  std::vector<std::uint64_t> counted;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    counted.push_back(before[i] && after[i] && *after[i] > *before[i] ? *after[i] - *before[i] : 0);
  }
  return choose_port(counted, same_host, reason);
}

}  // namespace mtuscope::mpi
