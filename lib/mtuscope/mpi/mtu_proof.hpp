#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mtuscope::mpi {

/// Messages of the proof burst: long enough that what MPI adds to each of them (headers, rendezvous, acknowledgements)
/// is little beside its packets.
inline constexpr std::uint64_t kBurstMessageBytes = 262'144;
inline constexpr std::uint64_t kBurstMessages = 16;

/// Which port of this host a burst left by, of the packets each of them counted; nothing, and why in `reason`, when
/// that cannot be told: MPI does not say which device it uses. `same_host`: the receiving rank's port is among them.
[[nodiscard]] std::optional<std::size_t> choose_port(std::span<const std::uint64_t> counted_packets, bool same_host,
                                                     std::string& reason);

}  // namespace mtuscope::mpi
