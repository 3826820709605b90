#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "mtuscope/core/mtu_proof.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/verbs/device/sysfs.hpp"

namespace mtuscope::verbs {

/// The port's count of packets sent, as the kernel shows it.
class PacketCounter {
 public:
  /// Nothing when the device has no such counter: rxe's hw_counters/sent_pkts, then counters/port_xmit_packets (HCAs).
  [[nodiscard]] static std::optional<PacketCounter> find(const Sysfs& sysfs, const std::string& device,
                                                         std::uint32_t port);
  /// Packets sent so far; nothing if it cannot be read now, or is saturated (a 32-bit counter at its end).
  [[nodiscard]] std::optional<std::uint64_t> read() const;
  /// "rxe0/1 hw_counters/sent_pkts".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The kernel serves cached values this long [ms] (hw_counters/lifespan, 10 if it does not say).
  [[nodiscard]] std::uint32_t lifespan_ms() const noexcept { return lifespan_ms_; }

 private:
  PacketCounter(Sysfs sysfs, std::string path, std::string name, std::uint32_t lifespan_ms);

  Sysfs sysfs_;
  std::string path_;
  std::string name_;
  std::uint32_t lifespan_ms_;
};

/// A burst and what the sending port counted meanwhile.
struct BurstCount {
  Connection connection = Connection::rc;
  PathMtu path_mtu = PathMtu::mtu1024;
  std::uint64_t expected_packets = 0;
  std::uint64_t counted_packets = 0;
  std::uint64_t foreign_packets = 0;  ///< counted in a pause just before, in which this session sent nothing
};

/// Whether the packets fit the path MTU, and the rule that decided in a sentence. Exactly as many as expected: proved.
/// Fewer contradict a larger MTU than asked, except none at all: then the counter does not work. More, on a port that
/// had foreign packets too: nothing is proved. Else at least kContradictionRatio as many contradict a smaller MTU
/// (which would give twice as many); in between RC is proved, as it may repeat packets, and UC and UD are not.
[[nodiscard]] ProofVerdict judge_burst(const BurstCount& burst, std::string& reason);
inline constexpr double kContradictionRatio = 1.8;

}  // namespace mtuscope::verbs
