#include "mtuscope/sweep/environment_wire.hpp"

#include <string_view>

namespace mtuscope::sweep {
namespace {

constexpr std::uint32_t kMaxPorts = 64;
constexpr std::uint32_t kMaxGids = 1024;

void put_text(WireWriter& writer, const std::string& text) { writer.put(std::string_view{text}); }

void put_mtu(WireWriter& writer, const std::optional<PathMtu>& mtu) {
  writer.put(static_cast<std::uint16_t>(mtu ? to_bytes(*mtu) : 0));
}

std::optional<PathMtu> get_mtu(WireReader& reader) {
  const auto bytes = reader.get<std::uint16_t>();
  if (bytes == 0) return std::nullopt;
  const auto mtu = path_mtu_from_bytes(bytes);
  if (!mtu) throw PeerError("the peer sent a malformed message (no such path MTU)");
  return mtu;
}

template <class T>
std::optional<T> get_optional(WireReader& reader) {
  if (!reader.get_bool()) return std::nullopt;
  if constexpr (std::is_same_v<T, double>) {
    return reader.get_double();
  } else {
    return reader.get<T>();
  }
}

std::uint32_t get_count(WireReader& reader, std::uint32_t limit) {
  const auto count = reader.get<std::uint32_t>();
  if (count > limit) throw PeerError("the peer sent a malformed message (a list is too long)");
  return count;
}

void put_host(WireWriter& writer, const HostInfo& host) {
  put_text(writer, host.hostname);
  put_text(writer, host.kernel);
  put_text(writer, host.cpu_model);
  writer.put(host.cpu_count);
  writer.put(host.numa_node_count);
  put_text(writer, host.cpu_governor);
  writer.put(host.memlock_bytes);
  writer.put(host.memory_bytes);
  writer.put(host.page_size_bytes);
  put_text(writer, host.iommu);
  writer.put(host.clock.resolution_ns);
  writer.put(host.clock.cost_ns);
}

HostInfo get_host(WireReader& reader) {
  HostInfo host;
  host.hostname = reader.get_string();
  host.kernel = reader.get_string();
  host.cpu_model = reader.get_string();
  host.cpu_count = reader.get<std::uint32_t>();
  host.numa_node_count = reader.get<std::uint32_t>();
  host.cpu_governor = reader.get_string();
  host.memlock_bytes = get_optional<std::uint64_t>(reader);
  host.memory_bytes = reader.get<std::uint64_t>();
  host.page_size_bytes = reader.get<std::uint64_t>();
  host.iommu = reader.get_string();
  host.clock.resolution_ns = reader.get<std::uint64_t>();
  host.clock.cost_ns = reader.get<std::uint64_t>();
  return host;
}

void put_port(WireWriter& writer, const PortInfo& port) {
  writer.put(port.number);
  for (const auto* text : {&port.state, &port.physical_state, &port.link_layer}) put_text(writer, *text);
  put_mtu(writer, port.active_mtu);
  put_mtu(writer, port.max_mtu);
  put_text(writer, port.netdev);
  writer.put(port.netdev_mtu_bytes);
  put_text(writer, port.speed);
  put_text(writer, port.width);
  writer.put(port.rate_gbit_per_s);
  writer.put(port.lid);
  writer.put(port.sm_lid);
  writer.put(static_cast<std::uint32_t>(port.gids.size()));
  for (const auto& gid : port.gids) {
    writer.put(gid.index);
    for (const auto* text : {&gid.gid, &gid.type, &gid.netdev}) put_text(writer, *text);
  }
  writer.put(port.chosen_gid_index);
  put_text(writer, port.chosen_gid_reason);
}

PortInfo get_port(WireReader& reader) {
  PortInfo port;
  port.number = reader.get<std::uint32_t>();
  for (auto* text : {&port.state, &port.physical_state, &port.link_layer}) *text = reader.get_string();
  port.active_mtu = get_mtu(reader);
  port.max_mtu = get_mtu(reader);
  port.netdev = reader.get_string();
  port.netdev_mtu_bytes = get_optional<std::uint32_t>(reader);
  port.speed = reader.get_string();
  port.width = reader.get_string();
  port.rate_gbit_per_s = get_optional<double>(reader);
  port.lid = reader.get<std::uint32_t>();
  port.sm_lid = reader.get<std::uint32_t>();
  const auto gid_count = get_count(reader, kMaxGids);
  for (std::uint32_t i = 0; i < gid_count; ++i) {
    GidInfo gid;
    gid.index = reader.get<std::uint32_t>();
    for (auto* text : {&gid.gid, &gid.type, &gid.netdev}) *text = reader.get_string();
    port.gids.push_back(std::move(gid));
  }
  port.chosen_gid_index = get_optional<std::uint32_t>(reader);
  port.chosen_gid_reason = reader.get_string();
  return port;
}

void put_device(WireWriter& writer, const DeviceInfo& device) {
  put_text(writer, device.name);
  writer.put(device.vendor_id);
  writer.put(device.part_id);
  put_text(writer, device.part_name);
  writer.put(device.is_tavor);
  for (const auto* text : {&device.firmware, &device.board_id, &device.driver, &device.node_guid, &device.node_type}) {
    put_text(writer, *text);
  }
  writer.put(device.numa_node);
  put_text(writer, device.pci_address);
  put_text(writer, device.pci_link);
  writer.put(static_cast<std::uint32_t>(device.ports.size()));
  for (const auto& port : device.ports) put_port(writer, port);
}

DeviceInfo get_device(WireReader& reader) {
  DeviceInfo device;
  device.name = reader.get_string();
  device.vendor_id = reader.get<std::uint32_t>();
  device.part_id = reader.get<std::uint32_t>();
  device.part_name = reader.get_string();
  device.is_tavor = reader.get_bool();
  for (auto* text : {&device.firmware, &device.board_id, &device.driver, &device.node_guid, &device.node_type}) {
    *text = reader.get_string();
  }
  device.numa_node = get_optional<int>(reader);
  device.pci_address = reader.get_string();
  device.pci_link = reader.get_string();
  const auto port_count = get_count(reader, kMaxPorts);
  for (std::uint32_t i = 0; i < port_count; ++i) device.ports.push_back(get_port(reader));
  return device;
}

}  // namespace

void put_environment(WireWriter& writer, const Environment& environment) {
  put_host(writer, environment.host);
  put_text(writer, environment.mtuscope_version);
  put_text(writer, environment.rdma_core_version);
  put_text(writer, environment.mpi_library);
  writer.put(environment.device.has_value());
  if (environment.device) put_device(writer, *environment.device);
  writer.put(environment.port_number);
  writer.put(environment.gid_index);
  writer.put(environment.cpu);
}

Environment get_environment(WireReader& reader) {
  Environment environment;
  environment.host = get_host(reader);
  environment.mtuscope_version = reader.get_string();
  environment.rdma_core_version = reader.get_string();
  environment.mpi_library = reader.get_string();
  if (reader.get_bool()) environment.device = get_device(reader);
  environment.port_number = get_optional<std::uint32_t>(reader);
  environment.gid_index = get_optional<std::uint32_t>(reader);
  environment.cpu = get_optional<int>(reader);
  return environment;
}

}  // namespace mtuscope::sweep
