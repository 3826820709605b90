#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

/// A folder that looks like /sys, gone with the object.
class FakeSysfs {
 public:
  FakeSysfs() {
    auto pattern = (std::filesystem::temp_directory_path() / "mtuscope-sysfs-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    root_ = pattern;
  }
  FakeSysfs(const FakeSysfs&) = delete;
  FakeSysfs& operator=(const FakeSysfs&) = delete;
  ~FakeSysfs() {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }

  void write(const std::string& path, const std::string& text) const {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << text << "\n";
  }
  void link(const std::string& path, const std::string& target) const {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  /// One GID of port 1 with its type and network interface.
  void gid(const std::string& device, int index, const std::string& gid, const std::string& type) const {
    const auto port = "class/infiniband/" + device + "/ports/1/";
    const auto number = std::to_string(index);
    write(port + "gids/" + number, gid);
    write(port + "gid_attrs/types/" + number, type);
    write(port + "gid_attrs/ndevs/" + number, "net-" + device);
  }
  /// A device with a RoCE v2 link-local GID, a node GUID and a packet counter of lifespan 1 ms.
  void device(const std::string& name) const {
    const auto path = "class/infiniband/" + name;
    write(path + "/node_guid", "0000:0000:0000:" + name.substr(name.size() - 1) + name.substr(name.size() - 1));
    gid(name, 0, "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2");
    write(path + "/ports/1/hw_counters/sent_pkts", "0");
    write(path + "/ports/1/hw_counters/lifespan", "1");
  }
  [[nodiscard]] std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};
