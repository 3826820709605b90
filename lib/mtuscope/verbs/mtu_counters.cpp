#include "mtuscope/verbs/mtu_counters.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace mtuscope::verbs {
namespace {

constexpr std::uint32_t kDefaultLifespanMs = 10;
/// 32-bit port counters stay at their largest value (InfiniBand Architecture Specification, PortCounters).
constexpr std::int64_t kSaturated = 0xffffffff;

}  // namespace

PacketCounter::PacketCounter(Sysfs sysfs, std::string path, std::string name, std::uint32_t lifespan_ms)
    : sysfs_(std::move(sysfs)), path_(std::move(path)), name_(std::move(name)), lifespan_ms_(lifespan_ms) {}

std::optional<PacketCounter> PacketCounter::find(const Sysfs& sysfs, const std::string& device, std::uint32_t port) {
  static constexpr std::array<std::string_view, 2> kCounters{"hw_counters/sent_pkts", "counters/port_xmit_packets"};
  const auto port_path = Sysfs::port_path(device, port);
  for (const auto counter : kCounters) {
    auto path = port_path + "/" + std::string{counter};
    if (!sysfs.number(path)) continue;
    const auto lifespan = sysfs.number(port_path + "/hw_counters/lifespan").value_or(kDefaultLifespanMs);
    return PacketCounter{sysfs, std::move(path), device + "/" + std::to_string(port) + " " + std::string{counter},
                         lifespan > 0 ? static_cast<std::uint32_t>(lifespan) : kDefaultLifespanMs};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> PacketCounter::read() const {
  const auto value = sysfs_.number(path_);
  if (!value || *value < 0 || *value == kSaturated) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

ProofVerdict judge_burst(const BurstCount& burst, std::string& reason) {
  const auto numbers = std::to_string(burst.counted_packets) + " packets were counted, " +
                       std::to_string(burst.expected_packets) + " expected at " +
                       std::to_string(to_bytes(burst.path_mtu)) + " B";
  if (burst.counted_packets == 0) {
    reason = numbers + ": the counter stands still, so nothing is proved";
    return ProofVerdict::not_provable;
  }
  if (burst.counted_packets < burst.expected_packets) {
    reason = numbers + ": the packets were larger than asked, or the counter missed some";
    return ProofVerdict::contradicted;
  }
  if (burst.counted_packets == burst.expected_packets) {
    reason = numbers + ": exactly as many";
    return ProofVerdict::proved;
  }
  if (burst.foreign_packets > 0) {
    reason = numbers + ", and " + std::to_string(burst.foreign_packets) +
             " in a pause before: the port carries other traffic, so nothing is proved";
    return ProofVerdict::not_provable;
  }
  if (static_cast<double>(burst.counted_packets) >= kContradictionRatio * static_cast<double>(burst.expected_packets)) {
    reason = numbers + ": the packets were smaller than asked, or the port carries other traffic";
    return ProofVerdict::contradicted;
  }
  if (burst.connection == Connection::rc) {
    reason = numbers + ": at least as many and fewer than at the next smaller MTU (RC may repeat packets)";
    return ProofVerdict::proved;
  }
  reason = numbers + ": the port carries other traffic, so nothing is proved";
  return ProofVerdict::not_provable;
}

}  // namespace mtuscope::verbs
