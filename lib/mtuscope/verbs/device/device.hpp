#pragma once
#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/device.hpp"
#include "mtuscope/core/path_mtu.hpp"
#include "mtuscope/counters/sysfs.hpp"
#include "mtuscope/verbs/handles.hpp"

namespace mtuscope::verbs {

/// Every RDMA device and port of this host; empty when the kernel has none. A device that cannot be opened is listed
/// with what sysfs knows, and the reason goes to the log. Throws VerbsError when the list itself cannot be had.
[[nodiscard]] std::vector<DeviceInfo> list_devices(const counters::Sysfs& sysfs = counters::Sysfs{});

/// An opened device with one of its ports chosen for use.
struct OpenDevice {
  Context context;
  DeviceInfo info;
  ibv_device_attr attributes{};
  std::uint32_t port = 1;
  std::uint64_t max_message_size_bytes = 0;  ///< of that port
  std::uint32_t gid_index = 0;
  std::string gid_reason;

  [[nodiscard]] const PortInfo& port_info() const;
  [[nodiscard]] Where where() const { return {info.name, port}; }
};

/// What to open: an empty name means the first device with an active port.
struct DeviceRequest {
  std::string device;
  std::optional<std::uint32_t> port;  ///< empty: the first active port
  std::optional<std::uint32_t> gid_index;
};

/// Opens a device for use. Throws ConfigError for an unknown device or port or GID index (naming what there is), and
/// RunError for a port that is not active or has no usable GID.
[[nodiscard]] OpenDevice open_device(const DeviceRequest& request, const counters::Sysfs& sysfs = counters::Sysfs{});

[[nodiscard]] ibv_mtu to_ibv_mtu(PathMtu mtu) noexcept;
[[nodiscard]] std::optional<PathMtu> from_ibv_mtu(ibv_mtu mtu) noexcept;

}  // namespace mtuscope::verbs
