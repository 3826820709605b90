#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mtuscope::mpi {

/// Fills a message with what only this message size and direction has.
void fill_payload(std::span<std::byte> payload, bool from_initiator) noexcept;
/// Position of the first byte that is not as fill_payload makes it; nothing if all are.
[[nodiscard]] std::optional<std::uint64_t> first_difference(std::span<const std::byte> payload,
                                                            bool from_initiator) noexcept;

}  // namespace mtuscope::mpi
