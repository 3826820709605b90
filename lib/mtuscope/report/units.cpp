#include "mtuscope/report/units.hpp"

#include <fmt/format.h>

namespace mtuscope::report {

std::string mtu_label(PathMtu mtu) {
  const auto bytes = to_bytes(mtu);
  return bytes >= 1024 ? fmt::format("{}K", bytes / 1024) : fmt::format("{}", bytes);
}

std::string megabytes_per_s(double bytes_per_s) { return fmt::format("{:.2f}", bytes_per_s / 1e6); }

std::string microseconds(double ns) { return fmt::format("{:.2f}", ns / 1e3); }

std::string signed_percent(double fraction) {
  // A value that rounds to zero gets no sign: "-0.00" says nothing.
  const auto text = fmt::format("{:+.2f}", fraction * 100);
  return text == "-0.00" || text == "+0.00" ? "0.00" : text;
}

std::string percent(double fraction, int decimals) { return fmt::format("{:.{}f}", fraction * 100, decimals); }

std::string counted(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string duration(std::uint64_t ns) {
  const auto seconds = (ns + 500'000'000U) / 1'000'000'000U;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds % 3600 / 60);
}

}  // namespace mtuscope::report
