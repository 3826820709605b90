#include "mtuscope/launch/mtu_knob.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "mtuscope/core/error.hpp"

namespace mtuscope::launch {
namespace {

constexpr std::string_view kPlaceholder = "%d";

unsigned encoding_of(PathMtu path_mtu) {
  const auto at = std::find(kAllPathMtus.begin(), kAllPathMtus.end(), path_mtu);
  return static_cast<unsigned>(at - kAllPathMtus.begin()) + 1;
}

bool is_variable_name(std::string_view name) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

}  // namespace

std::span<const MtuKnob> known_knobs() {
  static const std::array<MtuKnob, 5> kKnobs{{
      // Tried with UCX 1.13.1 on Soft-RoCE: rc obeys it, ud ignores it.
      {"ucx", "UCX_IB_PATH_MTU", MtuSpelling::bytes},
      // Open MPI before 5.0: ompi_info --param btl openib --level 9
      {"openib", "OMPI_MCA_btl_openib_mtu", MtuSpelling::enumeration},
      // MVAPICH2 1.9 User Guide, section 11.20
      {"mvapich2", "MV2_DEFAULT_MTU", MtuSpelling::ibv_word},
      // QLogic, User Guide IB0054606-02, page 5-12
      {"mvapich", "VIADEV_DEFAULT_MTU", MtuSpelling::mtu_word},
      {"none", "", MtuSpelling::bytes},
  }};
  return kKnobs;
}

const MtuKnob& find_knob(std::string_view name) {
  std::string names;
  for (const auto& knob : known_knobs()) {
    if (knob.name == name) return knob;
    names += (names.empty() ? "" : ", ") + knob.name;
  }
  throw ConfigError{"\"" + std::string{name} + "\" is none of " + names +
                    ": for another library use --mtu-env NAME=%d"};
}

MtuKnob parse_knob(std::string_view text) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  const auto at = text.find(kPlaceholder);
  if (equals == std::string_view::npos || !is_variable_name(name) || at == std::string_view::npos || at < equals ||
      std::count(text.begin(), text.end(), '%') != 1) {
    throw ConfigError{"\"" + std::string{text} +
                      "\" is not NAME=%d, as UCX_UD_VERBS_SEG_SIZE=%d (%d: the path MTU in bytes)"};
  }
  return {"mtu-env", std::string{text}, MtuSpelling::bytes};
}

std::string setting(const MtuKnob& knob, PathMtu path_mtu) {
  if (knob.variable.empty()) return {};
  const auto bytes = std::to_string(to_bytes(path_mtu));
  if (const auto at = knob.variable.find(kPlaceholder); at != std::string::npos) {
    return std::string{knob.variable}.replace(at, kPlaceholder.size(), bytes);
  }
  switch (knob.spelling) {
    case MtuSpelling::bytes:
      return knob.variable + "=" + bytes;
    case MtuSpelling::enumeration:
      return knob.variable + "=" + std::to_string(encoding_of(path_mtu));
    case MtuSpelling::mtu_word:
      return knob.variable + "=MTU" + bytes;
    case MtuSpelling::ibv_word:
      return knob.variable + "=IBV_MTU_" + bytes;
  }
  return {};
}

}  // namespace mtuscope::launch
