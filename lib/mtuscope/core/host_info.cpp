#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "mtuscope/core/environment.hpp"

namespace mtuscope {
namespace {

namespace fs = std::filesystem;

/// First line of a small file, empty when it cannot be read.
std::string first_line(const fs::path& path) {
  std::ifstream file{path};
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_model() {
  std::ifstream file{"/proc/cpuinfo"};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    return colon == std::string::npos ? std::string{} : line.substr(colon + 2);
  }
  return {};
}

std::uint32_t numa_node_count() {
  std::error_code error;
  std::uint32_t count = 0;
  for (const auto& entry : fs::directory_iterator{"/sys/devices/system/node", error}) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("node") && name.size() > 4 && name.find_first_not_of("0123456789", 4) == std::string::npos)
      ++count;
  }
  return std::max<std::uint32_t>(1, count);
}

/// "on" when the kernel lists IOMMU groups; the groups, not the boot options, tell whether translation happens.
std::string iommu_state() {
  std::error_code error;
  const fs::directory_iterator groups{"/sys/kernel/iommu_groups", error};
  if (error) return {};
  return groups == fs::directory_iterator{} ? "off" : "on";
}

}  // namespace

HostInfo read_host_info() noexcept {
  HostInfo info;
  try {
    utsname names{};
    if (uname(&names) == 0) {
      info.hostname = names.nodename;
      info.kernel = std::string{names.sysname} + " " + names.release + " " + names.machine;
    }
    info.cpu_model = cpu_model();
    info.cpu_count = std::thread::hardware_concurrency();
    info.numa_node_count = numa_node_count();
    info.cpu_governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) info.memlock_bytes = limit.rlim_cur;
    struct sysinfo memory {};
    if (sysinfo(&memory) == 0) info.memory_bytes = static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit;
    info.page_size_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    info.iommu = iommu_state();
    info.clock = measure_clock();
  } catch (const std::exception&) {  // what could be read stands; the rest is "could not be read"
    return info;
  }
  return info;
}

}  // namespace mtuscope
