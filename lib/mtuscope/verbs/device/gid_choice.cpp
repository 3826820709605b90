#include "mtuscope/verbs/device/gid_choice.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace mtuscope::verbs {
namespace {

constexpr std::string_view kMappedPrefix = "0000:0000:0000:0000:0000:ffff:";
constexpr std::string_view kLinkLocalPrefix = "fe80:";

enum class Reach : std::uint8_t { ipv4, routable, link_local };

Reach reach_of(const GidInfo& gid) noexcept {
  if (is_ipv4_mapped(gid.gid)) return Reach::ipv4;
  return is_link_local(gid.gid) ? Reach::link_local : Reach::routable;
}

/// Smaller is better.
int rank(const GidInfo& gid) noexcept { return (gid.type == "RoCE v2" ? 0 : 10) + static_cast<int>(reach_of(gid)); }

std::string_view word(Reach reach) noexcept {
  switch (reach) {
    case Reach::ipv4:
      return "the first with an IPv4 address";
    case Reach::routable:
      return "the first with a routable IPv6 address";
    case Reach::link_local:
      return "link-local, as there is no routable one";
  }
  return "?";
}

}  // namespace

bool is_ipv4_mapped(const std::string& gid) noexcept { return gid.starts_with(kMappedPrefix); }
bool is_link_local(const std::string& gid) noexcept { return gid.starts_with(kLinkLocalPrefix); }

std::string ipv4_of(const std::string& gid) {
  if (!is_ipv4_mapped(gid) || gid.size() != kMappedPrefix.size() + 9) return {};
  std::string hex = gid.substr(kMappedPrefix.size());
  hex.erase(4, 1);  // the colon between the last two groups
  std::string text;
  for (std::size_t i = 0; i < 8; i += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    if (error != std::errc{} || end != hex.data() + i + 2) return {};
    text += (i == 0 ? "" : ".") + std::to_string(byte);
  }
  return text;
}

GidChoice choose_gid(const std::string& link_layer, const std::vector<GidInfo>& gids) {
  if (gids.empty()) {
    return {std::nullopt, "the port has no GID: give its network interface an address, or bring it up"};
  }
  if (link_layer == "InfiniBand") return {gids.front().index, "InfiniBand: the port's own GID"};
  const auto best = std::min_element(gids.begin(), gids.end(), [](const GidInfo& a, const GidInfo& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.index < b.index;
  });
  const std::string type = best->type.empty() ? "GID of unknown type" : best->type;
  std::string reason = type;
  if (best->type != "RoCE v2") reason += " (there is no RoCE v2 GID)";
  return {best->index, reason.append(", ").append(word(reach_of(*best)))};
}

}  // namespace mtuscope::verbs
