#include "mtuscope/mpi/payload.hpp"

#include "mtuscope/core/random.hpp"

namespace mtuscope::mpi {
namespace {

/// Calls `visit(position, value)` for every byte until it says false.
template <class Visit>
void walk_pattern(std::uint64_t size_bytes, bool from_initiator, Visit visit) {
  SplitMix64 random{size_bytes, from_initiator ? 1U : 2U};
  for (std::uint64_t position = 0; position < size_bytes;) {
    auto word = random.next();
    for (int i = 0; i < 8 && position < size_bytes; ++i, ++position, word >>= 8U) {
      if (!visit(position, static_cast<std::byte>(word & 0xffU))) return;
    }
  }
}

}  // namespace

void fill_payload(std::span<std::byte> payload, bool from_initiator) noexcept {
  walk_pattern(payload.size(), from_initiator, [&](std::uint64_t position, std::byte value) {
    payload[position] = value;
    return true;
  });
}

std::optional<std::uint64_t> first_difference(std::span<const std::byte> payload, bool from_initiator) noexcept {
  std::optional<std::uint64_t> difference;
  walk_pattern(payload.size(), from_initiator, [&](std::uint64_t position, std::byte value) {
    if (payload[position] == value) return true;
    difference = position;
    return false;
  });
  return difference;
}

}  // namespace mtuscope::mpi
