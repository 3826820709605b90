#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/counters/sysfs.hpp"

namespace mtuscope::counters {

/// The port's count of packets sent, as the kernel shows it.
class PacketCounter {
 public:
  /// Nothing when the device has no such counter: rxe's hw_counters/sent_pkts, then counters/port_xmit_packets (HCAs).
  [[nodiscard]] static std::optional<PacketCounter> find(const Sysfs& sysfs, const std::string& device,
                                                         std::uint32_t port);
  /// Those of every port of this host that has one.
  [[nodiscard]] static std::vector<PacketCounter> all(const Sysfs& sysfs);
  /// Packets sent so far; nothing if it cannot be read now, or is saturated (a 32-bit counter at its end).
  [[nodiscard]] std::optional<std::uint64_t> read() const;
  /// The same after a pause in which whatever the kernel had cached has become too old to be served.
  [[nodiscard]] std::optional<std::uint64_t> read_fresh() const;
  /// What made this port send packets again, so far: negative acknowledgements received, and timeouts. Nothing when
  /// the device does not count them.
  [[nodiscard]] std::optional<std::uint64_t> read_repeats() const;
  /// "rxe0/1 hw_counters/sent_pkts".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  PacketCounter(Sysfs sysfs, std::string port_path, const std::string& counter, std::string name,
                std::uint32_t lifespan_ms);

  Sysfs sysfs_;
  std::string port_path_;
  std::string path_;
  std::string name_;
  std::uint32_t lifespan_ms_;  ///< the kernel serves cached values this long (hw_counters/lifespan)
};

}  // namespace mtuscope::counters
