#include "mtuscope/counters/sysfs.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace mtuscope::counters {
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

std::vector<std::string> Sysfs::entries(const std::string& path) const {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry{root_ + "/" + path, error}, end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Sysfs::first_entry(const std::string& path) const {
  const auto names = entries(path);
  return names.empty() ? std::string{} : names.front();
}

bool Sysfs::exists(const std::string& path) const {
  std::error_code error;
  return fs::exists(root_ + "/" + path, error);
}

std::string Sysfs::device_path(const std::string& device) { return "class/infiniband/" + device; }

std::string Sysfs::port_path(const std::string& device, std::uint32_t port) {
  return device_path(device) + "/ports/" + std::to_string(port);
}

}  // namespace mtuscope::counters
