#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mtuscope {

/// Time slices kept per trial; longer trials get longer slices.
inline constexpr std::size_t kMaxSlices = 256;

/// The slowest slice's bandwidth [bytes/s], without the first slice, in which the pipe fills; nothing for fewer than
/// three slices. Slices that ended at one instant (one poll found all their messages) count as one longer slice.
[[nodiscard]] inline std::optional<double> slowest_slice(std::span<const std::uint64_t> ends_ns,
                                                         std::uint64_t slice_bytes) noexcept {
  if (ends_ns.size() < 3) return std::nullopt;
  std::optional<double> slowest;
  auto begin_ns = ends_ns.front();
  for (std::size_t i = 1; i < ends_ns.size();) {
    const auto end_ns = ends_ns[i];
    std::uint64_t count = 0;
    for (; i < ends_ns.size() && ends_ns[i] == end_ns; ++i) ++count;
    if (end_ns > begin_ns) {
      const double rate = static_cast<double>(count * slice_bytes) * 1e9 / static_cast<double>(end_ns - begin_ns);
      if (!slowest || rate < *slowest) slowest = rate;
    }
    begin_ns = end_ns;
  }
  return slowest;
}

}  // namespace mtuscope
