#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace mtuscope::cli {

/// The numbers of a kernel CPU list, "0-3,8". Throws ConfigError if it is none.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);

/// Keeps the calling thread, and threads it starts from now on, to a CPU or to a NUMA node's CPUs. Returns the CPU if
/// it is a single one. Throws ConfigError for a CPU or node that this host does not have or may not use.
std::optional<int> place_thread(const PlacementOptions& placement);

/// CPUs of this host.
[[nodiscard]] unsigned online_cpu_count();
/// CPUs the calling thread may run on.
[[nodiscard]] unsigned usable_cpu_count();

}  // namespace mtuscope::cli
