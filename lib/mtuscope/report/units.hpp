#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "mtuscope/core/outcome.hpp"
#include "mtuscope/core/path_mtu.hpp"

namespace mtuscope::report {

/// "256", "512", "1K", "2K", "4K".
[[nodiscard]] std::string mtu_label(PathMtu mtu);
/// Bandwidth in MB/s, 1 MB = 10^6 B, two decimals: "392.83".
[[nodiscard]] std::string megabytes_per_s(double bytes_per_s);
/// Time in microseconds, two decimals: "5.21".
[[nodiscard]] std::string microseconds(double ns);
/// A fraction as percentage with sign and two decimals: "+3.58".
[[nodiscard]] std::string signed_percent(double fraction);
/// A fraction as percentage: "0.013".
[[nodiscard]] std::string percent(double fraction, int decimals);
/// A number of things: "1 pair", "2 pairs".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view thing);
/// A span for people: "8 s", "3 min 05 s", "2 h 10 min".
[[nodiscard]] std::string duration(std::uint64_t ns);

}  // namespace mtuscope::report
