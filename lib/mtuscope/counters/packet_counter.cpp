#include "mtuscope/counters/packet_counter.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace mtuscope::counters {
namespace {

constexpr std::uint32_t kDefaultLifespanMs = 10;
constexpr std::uint32_t kSlackMs = 2;
/// 32-bit port counters stay at their largest value (InfiniBand Architecture Specification, PortCounters).
constexpr std::int64_t kSaturated = 0xffffffff;

}  // namespace

PacketCounter::PacketCounter(Sysfs sysfs, std::string port_path, const std::string& counter, std::string name,
                             std::uint32_t lifespan_ms)
    : sysfs_(std::move(sysfs)),
      port_path_(std::move(port_path)),
      path_(port_path_ + "/" + counter),
      name_(std::move(name) + " " + counter),
      lifespan_ms_(lifespan_ms) {}

std::optional<PacketCounter> PacketCounter::find(const Sysfs& sysfs, const std::string& device, std::uint32_t port) {
  static constexpr std::array<std::string_view, 2> kCounters{"hw_counters/sent_pkts", "counters/port_xmit_packets"};
  const auto port_path = Sysfs::port_path(device, port);
  for (const auto counter : kCounters) {
    if (!sysfs.number(port_path + "/" + std::string{counter})) continue;
    const auto lifespan = sysfs.number(port_path + "/hw_counters/lifespan").value_or(kDefaultLifespanMs);
    return PacketCounter{sysfs, port_path, std::string{counter}, device + "/" + std::to_string(port),
                         lifespan > 0 ? static_cast<std::uint32_t>(lifespan) : kDefaultLifespanMs};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> PacketCounter::read() const {
  const auto value = sysfs_.number(path_);
  if (!value || *value < 0 || *value == kSaturated) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::optional<std::uint64_t> PacketCounter::read_repeats() const {
  // rxe: drivers/infiniband/sw/rxe/rxe_hw_counters.c; mlx5: drivers/infiniband/hw/mlx5/counters.c
  static constexpr std::array<std::string_view, 6> kCauses{"rcvd_seq_err",          "completer_retry_err",
                                                           "rcvd_rnr_err",          "packet_seq_err",
                                                           "local_ack_timeout_err", "rnr_nak_retry_err"};
  std::optional<std::uint64_t> repeats;
  for (const auto cause : kCauses) {
    const auto value = sysfs_.number(port_path_ + "/hw_counters/" + std::string{cause});
    if (value && *value >= 0) repeats = repeats.value_or(0) + static_cast<std::uint64_t>(*value);
  }
  return repeats;
}

std::optional<std::uint64_t> PacketCounter::read_fresh() const {
  std::this_thread::sleep_for(std::chrono::milliseconds{lifespan_ms_ + kSlackMs});
  return read();
}

std::vector<PacketCounter> PacketCounter::all(const Sysfs& sysfs) {
  std::vector<PacketCounter> found;
  for (const auto& device : sysfs.entries("class/infiniband")) {
    for (const auto& port : sysfs.entries(Sysfs::device_path(device) + "/ports")) {
      std::uint32_t number = 0;
      const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
      if (error != std::errc{} || end != port.data() + port.size()) continue;
      if (auto counter = find(sysfs, device, number)) found.push_back(std::move(*counter));
    }
  }
  return found;
}

}  // namespace mtuscope::counters
