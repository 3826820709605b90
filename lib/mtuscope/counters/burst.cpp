#include "mtuscope/counters/burst.hpp"

#include <algorithm>

#include "mtuscope/core/clock.hpp"

namespace mtuscope::counters {
namespace {

/// A little more than the second some drivers take to fetch a device's counters.
constexpr std::uint64_t kLateCounterNs = 1'200'000'000;

}  // namespace

std::optional<BurstCount> count_burst(const PacketCounter& counter, BurstCount expected, const Burst& burst,
                                      std::string& problem) {
  const auto in_pause = counter.read_fresh();
  const auto before = counter.read_fresh();
  const auto repeats_before = counter.read_repeats();
  if (const auto failure = burst.send(); !failure.empty()) {
    problem = "the proof burst failed: " + failure;
    return std::nullopt;
  }
  const auto patience = Deadline::after_ns(std::min(kLateCounterNs, burst.patience_ns));
  auto after = counter.read_fresh();
  while (before && after && *after >= *before && *after - *before < expected.expected_packets && !patience.passed()) {
    after = counter.read_fresh();
  }
  if (!in_pause || !before || !after || *before < *in_pause || *after < *before) {
    problem = "the counter " + counter.name() + " could not be read, is saturated, or went back";
    return std::nullopt;
  }
  expected.counted_packets = *after - *before;
  expected.foreign_packets = *before - *in_pause;
  const auto repeats = counter.read_repeats();
  if (repeats && repeats_before && *repeats > *repeats_before) expected.repeat_causes = *repeats - *repeats_before;
  return expected;
}

void prove_by_bursts(const PacketCounter& counter, Connection connection, const Burst& burst, MtuProof& proof) {
  constexpr int kMaxBursts = 3;
  const BurstCount expected{
      .connection = connection,
      .path_mtu = proof.asked,
      .expected_packets = burst.messages * packets_per_message(burst.message_size_bytes, proof.asked)};
  proof.burst_messages = burst.messages;
  proof.burst_message_size_bytes = burst.message_size_bytes;
  proof.expected_packets = expected.expected_packets;
  proof.counter = counter.name();
  for (int attempt = 0; attempt < kMaxBursts && burst.usable() && proof.verdict != ProofVerdict::proved; ++attempt) {
    const auto count = count_burst(counter, expected, burst, proof.reason);
    proof.verdict = count ? judge_burst(*count, proof.reason) : ProofVerdict::not_provable;
    proof.counted_packets = count ? std::optional{count->counted_packets} : std::nullopt;
    if (!count || count->counted_packets == 0) break;
  }
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
  const bool too_many =
      static_cast<double>(burst.counted_packets) >= kContradictionRatio * static_cast<double>(burst.expected_packets);
  if (too_many && burst.repeat_causes > 0) {
    reason = numbers + ", with " + std::to_string(burst.repeat_causes) +
             " negative acknowledgements or timeouts: the link loses packets and RC repeats them, so nothing is proved";
    return ProofVerdict::not_provable;
  }
  if (too_many) {
    reason = numbers + ": the packets were smaller than asked, or the port carries other traffic";
    return ProofVerdict::contradicted;
  }
  if (burst.connection == Connection::rc || burst.connection == Connection::mpi) {
    const auto* why = burst.connection == Connection::rc ? "RC may repeat packets" : "MPI adds packets of its own";
    reason = numbers + ": at least as many and fewer than at the next smaller MTU (" + why + ")";
    return ProofVerdict::proved;
  }
  reason = numbers + ": the port carries other traffic, so nothing is proved";
  return ProofVerdict::not_provable;
}

}  // namespace mtuscope::counters
