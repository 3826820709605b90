#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/core/device.hpp"

namespace mtuscope {

/// The host a measurement ran on. Empty strings and optionals mean "could not be read".
struct HostInfo {
  std::string hostname;
  std::string kernel;
  std::string cpu_model;
  std::uint32_t cpu_count = 0;
  std::uint32_t numa_node_count = 0;
  std::string cpu_governor;
  std::optional<std::uint64_t> memlock_bytes;  ///< RLIMIT_MEMLOCK; empty = unlimited
  std::uint64_t memory_bytes = 0;
  std::uint64_t page_size_bytes = 0;
  std::string iommu;
  ClockQuality clock;
};

/// Everything about one end that may explain a number.
struct Environment {
  HostInfo host;
  std::string mtuscope_version;
  std::string rdma_core_version;
  std::string mpi_library;                   ///< as it names itself; empty unless MPI was measured
  std::optional<DeviceInfo> device;          ///< the device used; empty for null, memset and model
  std::optional<std::uint32_t> port_number;  ///< of that device
  std::optional<std::uint32_t> gid_index;    ///< in use
  std::optional<int> cpu;                    ///< the CPU the measuring thread was pinned to
};

/// Which port of which host: "node7, mlx5_0 port 1"; "node7, no device".
[[nodiscard]] inline std::string name_of(const Environment& end) {
  if (!end.device) return end.host.hostname + ", no device";
  return end.host.hostname + ", " + end.device->name + " port " + std::to_string(end.port_number.value_or(0));
}

/// Reads /proc and /sys; what is missing stays empty. Never throws.
[[nodiscard]] HostInfo read_host_info() noexcept;

}  // namespace mtuscope
