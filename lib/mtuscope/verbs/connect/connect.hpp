#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/core/path_mtu.hpp"
#include "mtuscope/transport/exchange.hpp"
#include "mtuscope/transport/session.hpp"
#include "mtuscope/verbs/connect/queue_pair.hpp"
#include "mtuscope/verbs/device/device.hpp"

namespace mtuscope::verbs {

/// What one end of a session tells the other before they connect.
struct EndpointInfo {
  Connection connection = Connection::rc;
  PathMtu path_mtu = PathMtu::mtu1024;
  std::uint64_t max_message_size_bytes = 0;
  std::optional<PathMtu> active_mtu;
  std::string node_guid;  ///< with the port: whether both ends are on one port
  std::uint32_t port = 0;
  std::uint16_t lid = 0;
  std::array<std::uint8_t, 16> gid{};
  std::uint8_t reads_as_initiator = 1;  ///< device limits on reads under way
  std::uint8_t reads_as_responder = 1;
  std::uint64_t send_area = 0;
  std::uint64_t receive_area = 0;
  std::uint64_t area_stride_bytes = 0;  ///< from one queue pair's areas to the next one's
  std::uint32_t remote_key = 0;
  std::vector<std::uint32_t> qp_numbers;
  std::uint32_t packet_sequence = 0;
  std::string cm_address;  ///< responder, --connect cm: where it listens; empty otherwise
  std::uint16_t cm_port = 0;
};

[[nodiscard]] std::vector<std::byte> encode(const EndpointInfo& info);
/// Throws PeerError for a malformed payload.
[[nodiscard]] EndpointInfo decode_endpoint(std::span<const std::byte> bytes);

/// Throws PeerError unless both ends were asked for the same session, and RunError when its path MTU is above the
/// active MTU of either port.
void check_agreement(const EndpointInfo& mine, const EndpointInfo& theirs, const Exchange& exchange);
/// What both devices can do.
[[nodiscard]] ReadDepth negotiate_reads(const EndpointInfo& mine, const EndpointInfo& theirs) noexcept;
/// Where queue pair `q` of the peer is.
[[nodiscard]] Destination destination_of(const EndpointInfo& theirs, std::size_t q);

/// Fills device, port, LID, GID and limits of `device`. Throws VerbsError when the GID cannot be read.
void describe_endpoint(const OpenDevice& device, EndpointInfo& info);

}  // namespace mtuscope::verbs
