#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace mtuscope {

/// The five path MTUs the InfiniBand architecture allows; the value is the MTU [bytes].
/// Source: InfiniBand Architecture Specification, volume 1, path MTU encodings 1 to 5.
enum class PathMtu : std::uint16_t { mtu256 = 256, mtu512 = 512, mtu1024 = 1024, mtu2048 = 2048, mtu4096 = 4096 };

inline constexpr std::array kAllPathMtus{PathMtu::mtu256, PathMtu::mtu512, PathMtu::mtu1024, PathMtu::mtu2048,
                                         PathMtu::mtu4096};

/// The MTU as a number [bytes].
[[nodiscard]] constexpr std::uint32_t to_bytes(PathMtu mtu) noexcept { return static_cast<std::uint32_t>(mtu); }

/// The path MTU of exactly `bytes`, or nothing: 1000 or 1500 is no path MTU.
[[nodiscard]] constexpr std::optional<PathMtu> path_mtu_from_bytes(std::uint64_t bytes) noexcept {
  for (const auto mtu : kAllPathMtus) {
    if (to_bytes(mtu) == bytes) return mtu;
  }
  return std::nullopt;
}

/// Packets an HCA cuts one message of `message_size_bytes` into; a zero-byte message is still one packet.
[[nodiscard]] constexpr std::uint64_t packets_per_message(std::uint64_t message_size_bytes, PathMtu mtu) noexcept {
  return message_size_bytes == 0 ? 1 : (message_size_bytes - 1) / to_bytes(mtu) + 1;
}

}  // namespace mtuscope
