#include "mtuscope/verbs/registered_memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "mtuscope/core/random.hpp"

namespace mtuscope::verbs {
namespace {

/// Areas are at least this long, so that the proof burst has room whatever the sizes under test.
constexpr std::uint64_t kSmallestAreaBytes = 65536;

/// Calls visit(position, byte) for the whole pattern until it returns false.
template <class Visit>
void walk_pattern(std::uint64_t size_bytes, const PayloadKey& key, Visit visit) noexcept {
  const auto period = key.period_bytes == 0 ? std::numeric_limits<std::uint64_t>::max() : key.period_bytes;
  const auto seed =
      (std::uint64_t{key.session} << 33U) ^ (key.message_size_bytes << 1U) ^ (key.from_initiator ? 1U : 0U);
  for (std::uint64_t start = 0; start < size_bytes; start += period) {
    SplitMix64 random{seed};
    const auto end = size_bytes - start > period ? start + period : size_bytes;
    for (auto position = start; position < end;) {
      auto word = random.next();
      for (int i = 0; i < 8 && position < end; ++i, ++position, word >>= 8U) {
        if (!visit(position, static_cast<std::byte>(word & 0xffU))) return;
      }
    }
    if (period == std::numeric_limits<std::uint64_t>::max()) return;
  }
}

}  // namespace

std::uint64_t RegisteredMemory::stride_of(std::uint64_t message_size_bytes) noexcept {
  const auto area = std::max(message_size_bytes, kSmallestAreaBytes);
  return (area + kPageBytes - 1) / kPageBytes * kPageBytes + kPageBytes;
}

std::uint64_t RegisteredMemory::total_bytes(std::uint32_t qp_count, std::uint64_t message_size_bytes) noexcept {
  return stride_of(message_size_bytes) * qp_count * 2;
}

RegisteredMemory::RegisteredMemory(ibv_pd& pd, std::uint32_t qp_count, std::uint64_t message_size_bytes,
                                   const Where& where)
    : qp_count_(qp_count), stride_bytes_(stride_of(message_size_bytes)) {
  const auto total = total_bytes(qp_count, message_size_bytes);
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): owned from here on
  base_.reset(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, total)));
  if (!base_) {
    throw RunError("cannot allocate " + std::to_string(total) +
                   " B for send and receive areas: use smaller messages or fewer queue pairs");
  }
  std::memset(base_.get(), 0, total);  // touch the pages now, not in the first trial
  region_ = register_memory(pd, base_.get(), total, where);
}

void fill_payload(std::span<std::byte> payload, const PayloadKey& key) noexcept {
  walk_pattern(payload.size(), key, [&](std::uint64_t position, std::byte value) {
    payload[position] = value;
    return true;
  });
}

std::optional<std::uint64_t> first_difference(std::span<const std::byte> payload, const PayloadKey& key) noexcept {
  std::optional<std::uint64_t> difference;
  walk_pattern(payload.size(), key, [&](std::uint64_t position, std::byte value) {
    if (payload[position] == value) return true;
    difference = position;
    return false;
  });
  return difference;
}

}  // namespace mtuscope::verbs
