#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/core/path_mtu.hpp"

namespace mtuscope::launch {

/// How a setting of an MPI library writes a path MTU.
enum class MtuSpelling : std::uint8_t {
  bytes,        ///< 2048
  enumeration,  ///< 4, the InfiniBand encoding: 256 is 1, 4096 is 5
  mtu_word,     ///< MTU2048
  ibv_word      ///< IBV_MTU_2048
};

/// The setting by which an MPI library is given its path MTU at launch.
struct MtuKnob {
  std::string name;      ///< as --mtu-knob takes it
  std::string variable;  ///< of the environment; empty: the MTU is set by other means; with %d: the whole assignment
  MtuSpelling spelling = MtuSpelling::bytes;
};

/// The settings we know; docs/mpi.md says of which libraries.
[[nodiscard]] std::span<const MtuKnob> known_knobs();
/// Throws ConfigError that lists the known names.
[[nodiscard]] const MtuKnob& find_knob(std::string_view name);
/// "NAME=%d": bytes in place of %d. Throws ConfigError for anything else.
[[nodiscard]] MtuKnob parse_knob(std::string_view text);
/// "UCX_IB_PATH_MTU=2048"; empty for a knob without a variable. For a knob of parse_knob the text around %d is kept.
[[nodiscard]] std::string setting(const MtuKnob& knob, PathMtu path_mtu);

}  // namespace mtuscope::launch
