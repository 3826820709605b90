#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mtuscope/transport/backend.hpp"

namespace mtuscope::verbs {

/// Which device, port and GID one end uses.
struct VerbsOptions {
  std::string device;                 ///< empty: the first with an active port
  std::optional<std::uint32_t> port;  ///< empty: the device's first active one
  std::optional<std::uint32_t> gid_index;
  std::optional<int> cpu;           ///< the thread that opens sessions is pinned to it
  std::string sysfs_root = "/sys";  ///< replaced by tests
};

/// Opens the device. Throws ConfigError (unknown device, port or GID index) and RunError (port not active, no usable
/// GID, no permission).
[[nodiscard]] std::unique_ptr<Backend> make_verbs(const VerbsOptions& options);

}  // namespace mtuscope::verbs
