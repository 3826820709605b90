#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mtuscope/core/point.hpp"

namespace mtuscope {

inline constexpr std::uint64_t kMaxBlockCount = std::uint64_t{1} << 20U;
/// A process has 47 bits of addresses; this leaves most of them alone.
inline constexpr std::uint64_t kMaxMappedBytes = std::uint64_t{1} << 44U;

/// 4 KiB, 2 MiB or 1 GiB.
[[nodiscard]] constexpr bool is_page_size(std::uint64_t bytes) noexcept {
  return bytes == 4096 || bytes == std::uint64_t{1} << 21U || bytes == std::uint64_t{1} << 30U;
}

/// Where the blocks of a working set are. Every block begins at a page of 4 KiB, whatever the pages of the memory, so
/// that a message of s bytes lies in ceil(s / 4 KiB) of them.
struct BlockLayout {
  std::uint64_t stride_bytes = 0;          ///< from one block's first byte to the next one's
  std::uint64_t physical_block_count = 0;  ///< block i and block i + physical_block_count are the same memory
  std::uint64_t physical_bytes = 0;        ///< of memory, whole pages
  std::uint64_t mapped_bytes = 0;          ///< of addresses: that memory alias_count times
};

/// `set` must be within the limits above, its size and count at least 1.
[[nodiscard]] BlockLayout layout_of(const WorkingSet& set) noexcept;

/// Whether the copies of a working set with aliases join without a gap: what is in memory fills whole pages.
[[nodiscard]] bool aliases_join(const WorkingSet& set) noexcept;
/// Whether every limit above holds, and aliases join: what may come from a stranger.
[[nodiscard]] bool is_mappable(const WorkingSet& set) noexcept;

/// What this host has for working sets; read at the moment of asking.
struct MemoryLimits {
  std::uint64_t available_bytes = 0;  ///< MemAvailable of /proc/meminfo
  std::uint64_t memlock_bytes = 0;    ///< RLIMIT_MEMLOCK, or the largest number if this process is exempt from it
  std::uint64_t free_huge_pages_2m = 0;
  std::uint64_t free_huge_pages_1g = 0;
};
[[nodiscard]] MemoryLimits read_memory_limits();

/// Throws RunError, before anything is allocated, when this host has less memory, locked memory (`registered`) or huge
/// pages than `sets` need; it says how much is needed, how much there is, and what to change.
void check_memory(std::span<const WorkingSet> sets, bool registered, const MemoryLimits& limits);

/// The memory of all working sets of an arrangement. The sets share the same physical memory, but each has addresses of
/// its own: what a device remembers of one set's addresses does not serve another.
class BlockPool {
 public:
  /// Allocates, maps and touches. Throws RunError naming what the kernel refused.
  explicit BlockPool(std::span<const WorkingSet> sets);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  /// Block 0 of set `s`; block b is b strides further.
  [[nodiscard]] std::byte* base(std::size_t s) const noexcept { return mappings_[s].base; }
  [[nodiscard]] const BlockLayout& layout(std::size_t s) const noexcept { return mappings_[s].layout; }

 private:
  struct Mapping {
    std::byte* base = nullptr;
    BlockLayout layout;
    std::uint64_t reserved_bytes = 0;
    std::byte* reserved = nullptr;
  };
  void map(const WorkingSet& set, int memory);
  void unmap() noexcept;

  std::vector<Mapping> mappings_;
};

}  // namespace mtuscope
