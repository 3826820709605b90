#include <fmt/format.h>

#include <sstream>

#include "commands.hpp"
#include "mtuscope/core/device.hpp"
#include "mtuscope/records/header_fields.hpp"
#include "mtuscope/report/units.hpp"
#include "mtuscope/verbs/device/device.hpp"

namespace mtuscope::cli {
namespace {

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

std::string mtu_text(const std::optional<PathMtu>& mtu) { return mtu ? report::mtu_label(*mtu) : "unknown"; }

std::string port_text(const PortInfo& port) {
  auto text = fmt::format("  port {}: {} ({}), {}, MTU active {} max {}", port.number, or_unknown(port.state),
                          or_unknown(port.physical_state), or_unknown(port.link_layer), mtu_text(port.active_mtu),
                          mtu_text(port.max_mtu));
  if (!port.width.empty() || !port.speed.empty()) text += fmt::format(", {} {}", port.width, port.speed);
  if (port.rate_gbit_per_s) text += fmt::format(" = {:g} Gb/s", *port.rate_gbit_per_s);
  text += "\n";
  if (!port.netdev.empty()) {
    text += fmt::format("    netdev {}", port.netdev);
    if (port.netdev_mtu_bytes) text += fmt::format(", MTU {} B", *port.netdev_mtu_bytes);
    text += "\n";
  }
  if (port.link_layer == "InfiniBand") text += fmt::format("    LID {}, SM LID {}\n", port.lid, port.sm_lid);
  for (const auto& gid : port.gids) {
    const bool chosen = port.chosen_gid_index == gid.index;
    text += fmt::format("    {} GID {} {} {}", chosen ? "*" : " ", gid.index, gid.gid, gid.type);
    if (chosen) text += fmt::format(" (chosen: {})", port.chosen_gid_reason);
    text += "\n";
  }
  if (!port.chosen_gid_index) text += fmt::format("    no GID chosen: {}\n", or_unknown(port.chosen_gid_reason));
  return text;
}

std::string device_text(const DeviceInfo& device) {
  auto text = fmt::format("{}: vendor 0x{:x} part {} ({}), firmware {}, board {}, driver {}\n", device.name,
                          device.vendor_id, device.part_id, or_unknown(device.part_name), or_unknown(device.firmware),
                          or_unknown(device.board_id), or_unknown(device.driver));
  text += fmt::format("  node {} {}, NUMA node {}, PCI {} {}\n", or_unknown(device.node_type),
                      or_unknown(device.node_guid), device.numa_node ? fmt::format("{}", *device.numa_node) : "unknown",
                      or_unknown(device.pci_address), or_unknown(device.pci_link));
  if (device.is_tavor) {
    text += "  TAVOR: bandwidth drops at a 2K path MTU above 2 KiB; see mtuscope compare RUN --to tavor-mpi-2006\n";
  }
  for (const auto& port : device.ports) text += port_text(port);
  return text;
}

std::string json_text(const std::vector<DeviceInfo>& devices) {
  std::ostringstream out;
  {
    records::JsonWriter json{out};
    records::FieldWriter{json}.write(devices);
  }
  return out.str() + "\n";
}

}  // namespace

ExitCode run_devices(const DevicesOptions& options, const CommandContext& /*context*/) {
  const auto devices = verbs::list_devices();
  if (options.json) {
    Console::answer(json_text(devices));
    return ExitCode::ok;
  }
  std::string text;
  for (const auto& device : devices) text += device_text(device);
  if (devices.empty()) {
    text =
        "no RDMA device on this host: load its driver, or make a Soft-RoCE one with `rdma link add rxe0 type rxe "
        "netdev NETDEV`\n";
  }
  Console::answer(text);
  return ExitCode::ok;
}

}  // namespace mtuscope::cli
