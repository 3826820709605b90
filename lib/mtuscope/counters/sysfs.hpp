#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtuscope::counters {

/// The kernel's files about RDMA devices, under a root that tests can replace ("/sys" otherwise). Nothing here throws:
/// what cannot be read is absent.
class Sysfs {
 public:
  explicit Sysfs(std::string root = "/sys") : root_(std::move(root)) {}

  /// First line of `<root>/<path>` without surrounding blanks; nothing if it cannot be read.
  [[nodiscard]] std::optional<std::string> text(const std::string& path) const;
  /// The same as a decimal number; nothing if it is not one.
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& path) const;
  /// Last component of what the symbolic link points to; empty if there is none.
  [[nodiscard]] std::string link_name(const std::string& path) const;
  /// Names of a folder's entries, sorted; empty if there is none.
  [[nodiscard]] std::vector<std::string> entries(const std::string& path) const;
  /// Name of the only (or first) entry of a folder; empty if there is none.
  [[nodiscard]] std::string first_entry(const std::string& path) const;
  [[nodiscard]] bool exists(const std::string& path) const;

  /// "class/infiniband/<device>".
  [[nodiscard]] static std::string device_path(const std::string& device);
  /// "class/infiniband/<device>/ports/<port>".
  [[nodiscard]] static std::string port_path(const std::string& device, std::uint32_t port);

 private:
  std::string root_;
};

}  // namespace mtuscope::counters
