#include "placement.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>

#include "mtuscope/core/error.hpp"
#include "parse.hpp"

namespace mtuscope::cli {
namespace {

int parse_cpu(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number >= CPU_SETSIZE) {
    throw ConfigError{"\"" + std::string{text} + "\" is no CPU number"};
  }
  return number;
}

std::vector<int> cpus_of_node(std::uint32_t node) {
  const auto path = "/sys/devices/system/node/node" + std::to_string(node) + "/cpulist";
  std::ifstream file{path};
  std::string list;
  if (!std::getline(file, list) || list.empty()) {
    throw ConfigError{"--numa " + std::to_string(node) + ": this host has no such NUMA node with CPUs (" + path +
                      "): see lscpu"};
  }
  return parse_cpu_list(list);
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const auto& part : split_commas(text)) {
    const auto dash = part.find('-');
    const int first = parse_cpu(std::string_view{part}.substr(0, dash));
    const int last = dash == std::string::npos ? first : parse_cpu(std::string_view{part}.substr(dash + 1));
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::optional<int> place_thread(const PlacementOptions& placement) {
  std::vector<int> cpus;
  std::string option;
  if (placement.cpu) {
    cpus = {static_cast<int>(*placement.cpu)};
    option = "--cpu " + std::to_string(*placement.cpu);
  } else if (placement.numa_node) {
    cpus = cpus_of_node(*placement.numa_node);
    option = "--numa " + std::to_string(*placement.numa_node);
  } else {
    return std::nullopt;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<unsigned>(cpu), &set);
  errno = 0;
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw ConfigError{option + ": " + error_text(errno) + ": this host has " + std::to_string(usable_cpu_count()) +
                      " usable CPUs, see lscpu"};
  }
  return cpus.size() == 1 ? std::optional<int>{cpus.front()} : std::nullopt;
}

unsigned online_cpu_count() {
  const auto count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : static_cast<unsigned>(count);
}

unsigned usable_cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

}  // namespace mtuscope::cli
