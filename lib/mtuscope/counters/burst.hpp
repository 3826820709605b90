#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "mtuscope/core/mtu_proof.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/counters/packet_counter.hpp"

namespace mtuscope::counters {

/// A burst of messages and what the sending port counted meanwhile.
struct BurstCount {
  Connection connection = Connection::rc;
  PathMtu path_mtu = PathMtu::mtu1024;
  std::uint64_t expected_packets = 0;
  std::uint64_t counted_packets = 0;
  std::uint64_t foreign_packets = 0;  ///< counted in a pause just before, in which this session sent nothing
  std::uint64_t repeat_causes = 0;    ///< negative acknowledgements and timeouts at the sending port meanwhile
};

/// The burst of a session: what is sent, and how.
struct Burst {
  std::uint64_t messages = 0;
  std::uint64_t message_size_bytes = 0;
  /// Sends it once, with the peer; returns what went wrong, or nothing.
  std::function<std::string()> send;
  /// Whether it can be sent once more.
  std::function<bool()> usable;
  std::uint64_t patience_ns = 0;  ///< the peer waits meanwhile
};

/// Counts what `counter` counts while `burst` is sent. Packets that are missing are waited for, as some drivers fetch a
/// device's counters about once a second, but for the burst's patience at most. Nothing, and the problem in `problem`,
/// when the burst failed or the counter cannot be trusted.
[[nodiscard]] std::optional<BurstCount> count_burst(const PacketCounter& counter, BurstCount expected,
                                                    const Burst& burst, std::string& problem);

/// Counts bursts of a session until one proves the path MTU that `proof` asks for, three at most: other traffic on the
/// port is taken as passing. Fills in all that the proof says of counting.
void prove_by_bursts(const PacketCounter& counter, Connection connection, const Burst& burst, MtuProof& proof);

/// Whether the packets fit the path MTU, and the rule that decided in a sentence. Exactly as many as expected: proved.
/// Fewer contradict a larger MTU than asked, except none at all: then the counter does not work. More, on a port that
/// had foreign packets too, or lost some that RC repeated: nothing is proved. Else at least kContradictionRatio as many
/// contradict a smaller MTU (which would give twice as many); in between RC, which may repeat packets, and MPI, which
/// adds some of its own, are proved, and UC and UD are not.
[[nodiscard]] ProofVerdict judge_burst(const BurstCount& burst, std::string& reason);
inline constexpr double kContradictionRatio = 1.8;

}  // namespace mtuscope::counters
