#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/core/path_mtu.hpp"

namespace mtuscope {

/// One entry of a port's GID table.
struct GidInfo {
  std::uint32_t index = 0;
  std::string gid;   ///< as text, "fe80:0000:..."
  std::string type;  ///< "IB", "RoCE v1", "RoCE v2"
  std::string netdev;
};

/// One port of an RDMA device, as found.
struct PortInfo {
  std::uint32_t number = 0;
  std::string state;           ///< "ACTIVE", "DOWN", ...
  std::string physical_state;  ///< "LINK_UP", ...
  std::string link_layer;      ///< "InfiniBand" or "Ethernet"
  std::optional<PathMtu> active_mtu;
  std::optional<PathMtu> max_mtu;
  std::string netdev;
  std::optional<std::uint32_t> netdev_mtu_bytes;
  std::string speed;  ///< "10 Gb/s" per lane, as the device says
  std::string width;  ///< "4X"
  std::optional<double> rate_gbit_per_s;
  std::uint32_t lid = 0;
  std::uint32_t sm_lid = 0;
  std::vector<GidInfo> gids;
  std::optional<std::uint32_t> chosen_gid_index;
  std::string chosen_gid_reason;
};

/// One RDMA device, as found.
struct DeviceInfo {
  std::string name;
  std::uint32_t vendor_id = 0;
  std::uint32_t part_id = 0;
  std::string part_name;  ///< from the catalog of known parts, empty if unknown
  bool is_tavor = false;
  std::string firmware;
  std::string board_id;
  std::string driver;
  std::string node_guid;
  std::string node_type;
  std::optional<int> numa_node;
  std::string pci_address;
  std::string pci_link;  ///< "8.0 GT/s PCIe x8"
  std::vector<PortInfo> ports;
};

}  // namespace mtuscope
