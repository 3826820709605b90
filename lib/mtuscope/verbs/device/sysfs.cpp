#include "mtuscope/verbs/device/sysfs.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace mtuscope::verbs {
namespace fs = std::filesystem;

std::optional<std::string> Sysfs::text(const std::string& path) const {
  std::ifstream file{root_ + "/" + path};
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return std::string{};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<std::int64_t> Sysfs::number(const std::string& path) const {
  const auto line = text(path);
  if (!line) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), value);
  if (error != std::errc{} || end != line->data() + line->size()) return std::nullopt;
  return value;
}

std::string Sysfs::link_name(const std::string& path) const {
  std::error_code error;
  const auto target = fs::read_symlink(root_ + "/" + path, error);
  return error ? std::string{} : target.filename().string();
}

std::string Sysfs::first_entry(const std::string& path) const {
  std::error_code error;
  std::string first;
  for (fs::directory_iterator entry{root_ + "/" + path, error}, end; !error && entry != end; entry.increment(error)) {
    auto name = entry->path().filename().string();
    if (first.empty() || name < first) first = std::move(name);
  }
  return first;
}

bool Sysfs::exists(const std::string& path) const {
  std::error_code error;
  return fs::exists(root_ + "/" + path, error);
}

std::string Sysfs::device_path(const std::string& device) { return "class/infiniband/" + device; }

std::string Sysfs::port_path(const std::string& device, std::uint32_t port) {
  return device_path(device) + "/ports/" + std::to_string(port);
}

}  // namespace mtuscope::verbs
