#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

#include "mtuscope/verbs/handles.hpp"

namespace mtuscope::verbs {

/// One registered region with a send area and a receive area for every queue pair. All sessions of an arrangement share
/// it, so that it does not multiply by the number of path MTUs; they take turns.
class RegisteredMemory {
 public:
  /// Allocates, touches and registers. Throws RunError when memory or the locked-memory limit does not suffice.
  RegisteredMemory(ibv_pd& pd, std::uint32_t qp_count, std::uint64_t message_size_bytes, const Where& where);

  /// What is registered for so many queue pairs and messages of this size [bytes].
  [[nodiscard]] static std::uint64_t total_bytes(std::uint32_t qp_count, std::uint64_t message_size_bytes) noexcept;

  /// Page-aligned, with a page before it for the global route header.
  [[nodiscard]] std::byte* send_area(std::uint32_t q) const noexcept { return base_.get() + offset(q); }
  [[nodiscard]] std::byte* receive_area(std::uint32_t q) const noexcept { return base_.get() + offset(qp_count_ + q); }
  /// From one queue pair's area to the next one's [bytes].
  [[nodiscard]] std::uint64_t stride_bytes() const noexcept { return stride_bytes_; }
  /// Largest message an area holds [bytes].
  [[nodiscard]] std::uint64_t area_bytes() const noexcept { return stride_bytes_ - kPageBytes; }
  [[nodiscard]] const ibv_mr& region() const noexcept { return *region_; }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  struct Free {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the deleter of what aligned allocation gave
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  [[nodiscard]] static std::uint64_t stride_of(std::uint64_t message_size_bytes) noexcept;
  [[nodiscard]] std::size_t offset(std::uint32_t area) const noexcept { return area * stride_bytes_ + kPageBytes; }

  std::uint32_t qp_count_;
  std::uint64_t stride_bytes_;
  std::unique_ptr<std::byte, Free> base_;
  MemoryRegion region_;
};

/// What a payload is made from: the same session, size and sender give the same bytes.
struct PayloadKey {
  std::uint32_t session = 0;
  std::uint64_t message_size_bytes = 0;
  bool from_initiator = true;
  std::uint64_t period_bytes = 0;  ///< the pattern starts anew after so many (each datagram of a message); 0: never
};

void fill_payload(std::span<std::byte> payload, const PayloadKey& key) noexcept;
/// Position of the first byte that is not as fill_payload makes it; nothing if all are.
[[nodiscard]] std::optional<std::uint64_t> first_difference(std::span<const std::byte> payload,
                                                            const PayloadKey& key) noexcept;

}  // namespace mtuscope::verbs
