#include "mtuscope/verbs/device/device.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "mtuscope/core/log.hpp"
#include "mtuscope/verbs/device/catalog.hpp"
#include "mtuscope/verbs/device/gid_choice.hpp"

namespace mtuscope::verbs {
namespace {

constexpr std::string_view kNoGid = "0000:0000:0000:0000:0000:0000:0000:0000";

struct FreeDeviceList {
  void operator()(ibv_device** list) const noexcept { ibv_free_device_list(list); }
};

struct DeviceList {
  // An array as libibverbs made it.
  std::unique_ptr<ibv_device*[], FreeDeviceList> entries;  // NOLINT(modernize-avoid-c-arrays)
  int count = 0;
};

DeviceList get_device_list() {
  DeviceList list;
  errno = 0;
  list.entries.reset(ibv_get_device_list(&list.count));
  if (!list.entries) {
    if (errno == ENOSYS) return DeviceList{};  // the kernel has no RDMA support, so there are no devices
    throw VerbsError("ibv_get_device_list", {}, errno);
  }
  return list;
}

const char* physical_state(std::uint8_t state) noexcept {
  // InfiniBand Architecture Specification, PortInfo:PortPhysicalState.
  static constexpr std::array<const char*, 8> kNames{
      "?", "SLEEP", "POLLING", "DISABLED", "TRAINING", "LINK_UP", "LINK_ERROR_RECOVERY", "PHY_TEST"};
  return state < kNames.size() ? kNames.at(state) : "?";
}

const char* port_state(ibv_port_state state) noexcept {
  switch (state) {
    case IBV_PORT_NOP:
      return "NOP";
    case IBV_PORT_DOWN:
      return "DOWN";
    case IBV_PORT_INIT:
      return "INIT";
    case IBV_PORT_ARMED:
      return "ARMED";
    case IBV_PORT_ACTIVE:
      return "ACTIVE";
    case IBV_PORT_ACTIVE_DEFER:
      return "ACTIVE_DEFER";
  }
  return "?";
}

/// Per-lane rate [Gb/s] of ibv_port_attr::active_speed (ibv_query_port manual page); 0 for an unknown code.
double lane_gbit_per_s(std::uint8_t code) noexcept {
  switch (code) {
    case 1:
      return 2.5;
    case 2:
      return 5;
    case 4:
    case 8:
      return 10;
    case 16:
      return 14;
    case 32:
      return 25;
    case 64:
      return 50;
    case 128:
      return 100;
    default:
      return 0;
  }
}

/// Lanes of ibv_port_attr::active_width (ibv_query_port manual page); 0 for an unknown code.
int lanes(std::uint8_t code) noexcept {
  switch (code) {
    case 1:
      return 1;
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
    default:
      return 0;
  }
}

std::string lane_text(double gbit_per_s) {
  if (gbit_per_s == 0) return {};
  return gbit_per_s == 2.5 ? "2.5 Gb/s" : std::to_string(static_cast<int>(gbit_per_s)) + " Gb/s";
}

std::vector<GidInfo> read_gids(const counters::Sysfs& sysfs, const std::string& port_path, int table_size,
                               bool infiniband) {
  std::vector<GidInfo> gids;
  for (int i = 0; i < table_size; ++i) {
    const auto entry = [&](std::string_view table) {
      std::string path = port_path;
      return sysfs.text(path.append(table).append(std::to_string(i)));
    };
    const auto gid = entry("/gids/");
    if (!gid || *gid == kNoGid || gid->empty()) continue;
    GidInfo info;
    info.index = static_cast<std::uint32_t>(i);
    info.gid = *gid;
    info.type = entry("/gid_attrs/types/").value_or("");
    if (info.type == "IB/RoCE v1") info.type = infiniband ? "IB" : "RoCE v1";
    if (info.type.empty() && infiniband) info.type = "IB";
    info.netdev = entry("/gid_attrs/ndevs/").value_or("");
    gids.push_back(std::move(info));
  }
  return gids;
}

void read_netdev(const counters::Sysfs& sysfs, const std::string& device, PortInfo& port) {
  for (const auto& gid : port.gids) {
    if (port.netdev.empty()) port.netdev = gid.netdev;
  }
  const auto device_path = counters::Sysfs::device_path(device);
  if (port.netdev.empty()) port.netdev = sysfs.text(device_path + "/parent").value_or("");  // Soft-RoCE
  if (port.netdev.empty()) port.netdev = sysfs.first_entry(device_path + "/device/net");
  if (port.netdev.empty()) return;
  if (const auto mtu = sysfs.number("class/net/" + port.netdev + "/mtu"); mtu && *mtu > 0) {
    port.netdev_mtu_bytes = static_cast<std::uint32_t>(*mtu);
  }
}

PortInfo describe_port(const counters::Sysfs& sysfs, const std::string& device, std::uint32_t number,
                       const ibv_port_attr& attributes) {
  PortInfo port;
  port.number = number;
  port.state = port_state(attributes.state);
  port.physical_state = physical_state(attributes.phys_state);
  const bool infiniband = attributes.link_layer != IBV_LINK_LAYER_ETHERNET;  // UNSPECIFIED means InfiniBand
  port.link_layer = infiniband ? "InfiniBand" : "Ethernet";
  port.active_mtu = from_ibv_mtu(attributes.active_mtu);
  port.max_mtu = from_ibv_mtu(attributes.max_mtu);
  const double lane = lane_gbit_per_s(attributes.active_speed);
  const int width = lanes(attributes.active_width);
  port.speed = lane_text(lane);
  if (width != 0) port.width = std::to_string(width) + "X";
  if (lane != 0 && width != 0) port.rate_gbit_per_s = lane * width;
  port.lid = attributes.lid;
  port.sm_lid = attributes.sm_lid;
  port.gids = read_gids(sysfs, counters::Sysfs::port_path(device, number), attributes.gid_tbl_len, infiniband);
  read_netdev(sysfs, device, port);
  auto choice = choose_gid(port.link_layer, port.gids);
  port.chosen_gid_index = choice.index;
  port.chosen_gid_reason = std::move(choice.reason);
  return port;
}

/// "1: CA" as "CA".
std::string after_colon(const std::string& text) {
  const auto colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

void describe_from_sysfs(const counters::Sysfs& sysfs, DeviceInfo& info) {
  const auto path = counters::Sysfs::device_path(info.name);
  info.firmware = sysfs.text(path + "/fw_ver").value_or("");
  info.board_id = sysfs.text(path + "/board_id").value_or("");
  info.node_guid = sysfs.text(path + "/node_guid").value_or("");
  info.node_type = after_colon(sysfs.text(path + "/node_type").value_or(""));
  info.driver = sysfs.link_name(path + "/device/driver");
  if (info.driver.empty() && sysfs.exists(path + "/parent")) info.driver = "rdma_rxe";
  if (const auto node = sysfs.number(path + "/device/numa_node"); node && *node >= 0) {
    info.numa_node = static_cast<int>(*node);
  }
  info.pci_address = sysfs.link_name(path + "/device");
  const auto speed = sysfs.text(path + "/device/current_link_speed");
  const auto width = sysfs.text(path + "/device/current_link_width");
  if (speed && width) info.pci_link = *speed + " x" + *width;
}

ibv_device_attr query_device(ibv_context& context, const std::string& name) {
  ibv_device_attr attributes{};
  if (const int error = ibv_query_device(&context, &attributes)) throw VerbsError("ibv_query_device", {name, 0}, error);
  return attributes;
}

ibv_port_attr query_port(ibv_context& context, const Where& where) {
  ibv_port_attr attributes{};
  if (const int error = ibv_query_port(&context, static_cast<std::uint8_t>(where.port), &attributes)) {
    throw VerbsError("ibv_query_port", where, error);
  }
  return attributes;
}

void describe_from_verbs(const counters::Sysfs& sysfs, ibv_context& context, DeviceInfo& info) {
  const auto attributes = query_device(context, info.name);
  info.vendor_id = attributes.vendor_id;
  info.part_id = attributes.vendor_part_id;
  info.part_name = part_name(info.vendor_id, info.part_id);
  info.is_tavor = is_tavor(info.vendor_id, info.part_id);
  if (info.firmware.empty()) info.firmware = attributes.fw_ver;
  for (std::uint32_t port = 1; port <= attributes.phys_port_cnt; ++port) {
    info.ports.push_back(describe_port(sysfs, info.name, port, query_port(context, {info.name, port})));
  }
}

std::string names_of(const DeviceList& list) {
  if (list.count == 0) return "this host has no RDMA device; 'rdma link' shows what the kernel knows";
  std::string names = "there are:";
  for (int i = 0; i < list.count; ++i) {
    names += (i == 0 ? " " : ", ") + std::string{ibv_get_device_name(list.entries[static_cast<std::size_t>(i)])};
  }
  return names;
}

bool has_active_port(const DeviceInfo& info) {
  return std::any_of(info.ports.begin(), info.ports.end(), [](const PortInfo& p) { return p.state == "ACTIVE"; });
}

OpenDevice open_named(const DeviceRequest& request, const counters::Sysfs& sysfs) {
  const auto list = get_device_list();
  for (int i = 0; i < list.count; ++i) {
    auto& device = *list.entries[static_cast<std::size_t>(i)];
    if (!request.device.empty() && request.device != ibv_get_device_name(&device)) continue;
    OpenDevice open;
    open.context = open_context(device);
    open.info.name = ibv_get_device_name(&device);
    describe_from_sysfs(sysfs, open.info);
    describe_from_verbs(sysfs, *open.context, open.info);
    if (request.device.empty() && !has_active_port(open.info)) continue;
    open.attributes = query_device(*open.context, open.info.name);
    return open;
  }
  if (request.device.empty()) {
    throw RunError("no RDMA device with an active port: " + names_of(list) +
                   (list.count == 0 ? "" : "; bring a link up, or name a device with --ib-dev"));
  }
  throw ConfigError("no RDMA device '" + request.device + "': " + names_of(list));
}

void choose_port(OpenDevice& open, const DeviceRequest& request) {
  const auto& ports = open.info.ports;
  if (request.port) {
    open.port = *request.port;
    if (open.port == 0 || open.port > ports.size()) {
      throw ConfigError(open.info.name + " has no port " + std::to_string(open.port) + ": it has " +
                        std::to_string(ports.size()) + ", counted from 1");
    }
  } else {
    const auto active = std::find_if(ports.begin(), ports.end(), [](const PortInfo& p) { return p.state == "ACTIVE"; });
    open.port = active == ports.end() ? 1 : active->number;
  }
  if (ports.empty()) throw RunError(open.info.name + " has no port");
  const auto& port = open.port_info();
  if (port.state != "ACTIVE") {
    throw RunError(open.info.name + " port " + std::to_string(open.port) + " is " + port.state + " (link " +
                   port.physical_state + "): " +
                   (port.link_layer == "Ethernet"
                        ? "bring its network interface" + (port.netdev.empty() ? "" : " " + port.netdev) + " up"
                        : "check the cable and that a subnet manager runs"));
  }
}

void choose_gid_index(OpenDevice& open, const DeviceRequest& request) {
  const auto& port = open.port_info();
  const auto where = open.info.name + " port " + std::to_string(open.port);
  if (request.gid_index) {
    const auto found = std::find_if(port.gids.begin(), port.gids.end(),
                                    [&](const GidInfo& gid) { return gid.index == *request.gid_index; });
    if (found == port.gids.end()) {
      std::string known;
      for (const auto& gid : port.gids) known += (known.empty() ? "" : ", ") + std::to_string(gid.index);
      throw ConfigError(where + " has no GID at index " + std::to_string(*request.gid_index) +
                        (known.empty() ? ": its table is empty" : ": there are " + known));
    }
    open.gid_index = *request.gid_index;
    open.gid_reason = "asked for";
    return;
  }
  if (!port.chosen_gid_index) throw RunError(where + " has no usable GID: " + port.chosen_gid_reason);
  open.gid_index = *port.chosen_gid_index;
  open.gid_reason = port.chosen_gid_reason;
}

}  // namespace

ibv_mtu to_ibv_mtu(PathMtu mtu) noexcept {
  switch (mtu) {
    case PathMtu::mtu256:
      return IBV_MTU_256;
    case PathMtu::mtu512:
      return IBV_MTU_512;
    case PathMtu::mtu1024:
      return IBV_MTU_1024;
    case PathMtu::mtu2048:
      return IBV_MTU_2048;
    case PathMtu::mtu4096:
      return IBV_MTU_4096;
  }
  return IBV_MTU_256;
}

std::optional<PathMtu> from_ibv_mtu(ibv_mtu mtu) noexcept {
  for (const auto candidate : kAllPathMtus) {
    if (to_ibv_mtu(candidate) == mtu) return candidate;
  }
  return std::nullopt;
}

const PortInfo& OpenDevice::port_info() const { return info.ports.at(port - 1); }

std::vector<DeviceInfo> list_devices(const counters::Sysfs& sysfs) {
  const auto list = get_device_list();
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < list.count; ++i) {
    auto& device = *list.entries[static_cast<std::size_t>(i)];
    DeviceInfo info;
    info.name = ibv_get_device_name(&device);
    describe_from_sysfs(sysfs, info);
    try {
      const auto context = open_context(device);
      describe_from_verbs(sysfs, *context, info);
    } catch (const VerbsError& error) {
      log(LogLevel::warning, error.what());
    }
    devices.push_back(std::move(info));
  }
  return devices;
}

OpenDevice open_device(const DeviceRequest& request, const counters::Sysfs& sysfs) {
  auto open = open_named(request, sysfs);
  choose_port(open, request);
  choose_gid_index(open, request);
  open.max_message_size_bytes = query_port(*open.context, open.where()).max_msg_sz;
  return open;
}

}  // namespace mtuscope::verbs
