#include "mtuscope/verbs/connect/connect.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mtuscope/transport/wire.hpp"

namespace mtuscope::verbs {
namespace {

constexpr std::uint32_t kMaxQueuePairs = 65536;

void put_mtu(WireWriter& writer, std::optional<PathMtu> mtu) { writer.put(mtu ? to_bytes(*mtu) : 0U); }

std::optional<PathMtu> get_mtu(WireReader& reader) { return path_mtu_from_bytes(reader.get<std::uint32_t>()); }

std::string in_bytes(PathMtu mtu) { return std::to_string(to_bytes(mtu)); }

}  // namespace

std::vector<std::byte> encode(const EndpointInfo& info) {
  WireWriter writer;
  writer.put(info.connection);
  put_mtu(writer, info.path_mtu);
  writer.put(info.max_message_size_bytes);
  put_mtu(writer, info.active_mtu);
  writer.put(std::string_view{info.node_guid});
  writer.put(info.port);
  writer.put(info.lid);
  for (const auto byte : info.gid) writer.put(byte);
  writer.put(info.reads_as_initiator);
  writer.put(info.reads_as_responder);
  writer.put(info.send_area);
  writer.put(info.receive_area);
  writer.put(info.area_stride_bytes);
  writer.put(info.remote_key);
  writer.put(static_cast<std::uint32_t>(info.qp_numbers.size()));
  for (const auto number : info.qp_numbers) writer.put(number);
  writer.put(info.packet_sequence);
  writer.put(std::string_view{info.cm_address});
  writer.put(info.cm_port);
  return writer.bytes();
}

EndpointInfo decode_endpoint(std::span<const std::byte> bytes) {
  WireReader reader{bytes};
  EndpointInfo info;
  info.connection = reader.get_enum(Connection::none);
  const auto path_mtu = get_mtu(reader);
  if (!path_mtu) throw PeerError("the peer sent a malformed message (no path MTU)");
  info.path_mtu = *path_mtu;
  info.max_message_size_bytes = reader.get<std::uint64_t>();
  info.active_mtu = get_mtu(reader);
  info.node_guid = reader.get_string();
  info.port = reader.get<std::uint32_t>();
  info.lid = reader.get<std::uint16_t>();
  for (auto& byte : info.gid) byte = reader.get<std::uint8_t>();
  info.reads_as_initiator = reader.get<std::uint8_t>();
  info.reads_as_responder = reader.get<std::uint8_t>();
  info.send_area = reader.get<std::uint64_t>();
  info.receive_area = reader.get<std::uint64_t>();
  info.area_stride_bytes = reader.get<std::uint64_t>();
  info.remote_key = reader.get<std::uint32_t>();
  const auto count = reader.get<std::uint32_t>();
  if (count > kMaxQueuePairs) throw PeerError("the peer sent a malformed message (too many queue pairs)");
  for (std::uint32_t q = 0; q < count; ++q) info.qp_numbers.push_back(reader.get<std::uint32_t>());
  info.packet_sequence = reader.get<std::uint32_t>();
  info.cm_address = reader.get_string();
  info.cm_port = reader.get<std::uint16_t>();
  reader.expect_end();
  return info;
}

void check_agreement(const EndpointInfo& mine, const EndpointInfo& theirs, const Exchange& exchange) {
  if (mine.connection != theirs.connection || mine.path_mtu != theirs.path_mtu ||
      mine.qp_numbers.size() != theirs.qp_numbers.size() ||
      mine.max_message_size_bytes != theirs.max_message_size_bytes) {
    throw PeerError("the peer " + exchange.peer_name() + " opened a different session (" +
                    std::string{to_string(theirs.connection)} + " mtu " + in_bytes(theirs.path_mtu) + ", " +
                    std::to_string(theirs.qp_numbers.size()) + " queue pairs): are both ends of one version?");
  }
  for (const auto* end : {&mine, &theirs}) {
    if (end->active_mtu && to_bytes(mine.path_mtu) > to_bytes(*end->active_mtu)) {
      throw RunError("path MTU " + in_bytes(mine.path_mtu) + " is above the active MTU " + in_bytes(*end->active_mtu) +
                     (end == &mine ? " of the port here" : " of the peer's port") +
                     ": raise the MTU of the link, or ask for a smaller one with --mtu");
    }
  }
}

ReadDepth negotiate_reads(const EndpointInfo& mine, const EndpointInfo& theirs) noexcept {
  return {std::min(mine.reads_as_initiator, theirs.reads_as_responder),
          std::min(mine.reads_as_responder, theirs.reads_as_initiator)};
}

Destination destination_of(const EndpointInfo& theirs, std::size_t q) {
  return {theirs.lid, theirs.gid, theirs.qp_numbers.at(q), theirs.packet_sequence};
}

void describe_endpoint(const OpenDevice& device, EndpointInfo& info) {
  const auto& port = device.port_info();
  info.active_mtu = port.active_mtu;
  info.node_guid = device.info.node_guid;
  info.port = device.port;
  info.lid = static_cast<std::uint16_t>(port.lid);
  ibv_gid gid{};
  errno = 0;
  if (ibv_query_gid(device.context.get(), static_cast<std::uint8_t>(device.port), static_cast<int>(device.gid_index),
                    &gid) != 0) {
    throw VerbsError("ibv_query_gid", device.where(), errno, "index " + std::to_string(device.gid_index));
  }
  std::memcpy(info.gid.data(), gid.raw, info.gid.size());
  const auto limit = [](int value) { return static_cast<std::uint8_t>(std::clamp(value, 1, 255)); };
  info.reads_as_initiator = limit(device.attributes.max_qp_init_rd_atom);
  info.reads_as_responder = limit(device.attributes.max_qp_rd_atom);
}

}  // namespace mtuscope::verbs
