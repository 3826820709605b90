#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/device.hpp"

namespace mtuscope::verbs {

/// A GID index and, in one sentence, why; no index when none will do (the sentence says why not).
struct GidChoice {
  std::optional<std::uint32_t> index;
  std::string reason;
};

/// Whether the GID (text, eight groups) holds an IPv4 address, or one that is not routed beyond its link.
[[nodiscard]] bool is_ipv4_mapped(const std::string& gid) noexcept;
[[nodiscard]] bool is_link_local(const std::string& gid) noexcept;
/// "10.99.0.1" of an IPv4-mapped GID; empty otherwise.
[[nodiscard]] std::string ipv4_of(const std::string& gid);

/// InfiniBand: index 0. Ethernet: RoCE v2 before v1; then IPv4-mapped, other routable, link-local; then the lowest
/// index. A link-local GID is used when there is nothing better: it needs no routing, and two ends on one link do.
[[nodiscard]] GidChoice choose_gid(const std::string& link_layer, const std::vector<GidInfo>& gids);

}  // namespace mtuscope::verbs
