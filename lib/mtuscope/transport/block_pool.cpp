#include "mtuscope/transport/block_pool.hpp"

#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

#include "mtuscope/core/error.hpp"
#include "mtuscope/transport/session.hpp"

namespace mtuscope {
namespace {

constexpr std::uint64_t kSmallPageBytes = 4096;
constexpr std::uint64_t kPages2m = std::uint64_t{1} << 21U;
constexpr std::uint64_t kPages1g = std::uint64_t{1} << 30U;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) noexcept {
  return (value + step - 1) / step * step;
}

/// The number after `name` in a file of "name: number" lines; nothing if it is not there.
std::uint64_t number_in(const char* file, std::string_view name, int base) {
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream rest{line.substr(name.size())};
    std::uint64_t value = 0;
    if (base == 16) rest >> std::hex;
    if (rest >> value) return value;
  }
  return 0;
}

std::uint64_t free_huge_pages(const char* size) {
  std::ifstream in{std::string{"/sys/kernel/mm/hugepages/hugepages-"} + size + "kB/free_hugepages"};
  std::uint64_t pages = 0;
  in >> pages;
  return in ? pages : 0;
}

/// RLIMIT_MEMLOCK does not bind a process with CAP_IPC_LOCK (capabilities manual page: number 14).
std::uint64_t memlock_bytes() {
  constexpr std::uint64_t kIpcLock = std::uint64_t{1} << 14U;
  rlimit limit{};
  const bool exempt = (number_in("/proc/self/status", "CapEff:", 16) & kIpcLock) != 0;
  if (exempt || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return limit.rlim_cur;
}

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20U) + "." + std::to_string((bytes >> 10U) % 1024 * 10 / 1024) + " MiB";
}

[[noreturn]] void refuse(const std::string& what, int error) {
  throw RunError("blocks: " + what + ": " + std::generic_category().message(error));
}

/// One of the kernel's words for huge pages.
unsigned huge_flags(std::uint64_t page_size_bytes) noexcept {
  if (page_size_bytes == kPages2m) return MFD_HUGETLB | MFD_HUGE_2MB;
  if (page_size_bytes == kPages1g) return MFD_HUGETLB | MFD_HUGE_1GB;
  return 0;
}

/// The file that all mappings show; closed at the end of the constructor, its memory lives as long as they do.
class MemoryFile {
 public:
  MemoryFile(std::uint64_t bytes, std::uint64_t page_size_bytes)
      : descriptor_(memfd_create("mtuscope-blocks", MFD_CLOEXEC | huge_flags(page_size_bytes))) {
    if (descriptor_ < 0) refuse("memfd_create for pages of " + std::to_string(page_size_bytes) + " B", errno);
    if (ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0) return;
    const int error = errno;
    close(descriptor_);
    refuse("cannot have " + mebibytes(bytes), error);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

std::uint64_t physical_bytes_of(std::span<const WorkingSet> sets) {
  std::uint64_t bytes = 0;
  for (const auto& set : sets) bytes = std::max(bytes, layout_of(set).physical_bytes);
  return bytes;
}

void check_huge_pages(std::uint64_t needed_bytes, std::uint64_t page_size_bytes, const MemoryLimits& limits) {
  const bool is_2m = page_size_bytes == kPages2m;
  const auto needed = needed_bytes / page_size_bytes;
  const auto free = is_2m ? limits.free_huge_pages_2m : limits.free_huge_pages_1g;
  if (needed <= free) return;
  const std::string kilobytes = is_2m ? "2048" : "1048576";
  throw RunError("blocks: " + std::to_string(needed) + " huge pages of " + (is_2m ? "2M" : "1G") +
                 " are needed and this host has " + std::to_string(free) + " free: write a larger number to " +
                 "/sys/kernel/mm/hugepages/hugepages-" + kilobytes + "kB/nr_hugepages, or use fewer blocks");
}

}  // namespace

BlockLayout layout_of(const WorkingSet& set) noexcept {
  BlockLayout layout;
  layout.stride_bytes = round_up(set.block_size_bytes, kSmallPageBytes);
  layout.physical_block_count = (set.block_count + set.alias_count - 1) / set.alias_count;
  layout.physical_bytes = round_up(layout.physical_block_count * layout.stride_bytes, set.page_size_bytes);
  layout.mapped_bytes = layout.physical_bytes * set.alias_count;
  return layout;
}

bool aliases_join(const WorkingSet& set) noexcept {
  const auto layout = layout_of(set);
  return set.alias_count == 1 || layout.physical_block_count * layout.stride_bytes == layout.physical_bytes;
}

bool is_mappable(const WorkingSet& set) noexcept {
  return set.block_count >= 1 && set.block_count <= kMaxBlockCount && set.block_size_bytes >= 1 &&
         set.block_size_bytes <= kMaxMessageBytes && is_page_size(set.page_size_bytes) && set.alias_count >= 1 &&
         set.alias_count <= set.block_count && layout_of(set).mapped_bytes <= kMaxMappedBytes && aliases_join(set);
}

MemoryLimits read_memory_limits() {
  return {.available_bytes = number_in("/proc/meminfo", "MemAvailable:", 10) * 1024,
          .memlock_bytes = memlock_bytes(),
          .free_huge_pages_2m = free_huge_pages("2048"),
          .free_huge_pages_1g = free_huge_pages("1048576")};
}

void check_memory(std::span<const WorkingSet> sets, bool registered, const MemoryLimits& limits) {
  if (sets.empty()) return;
  const auto physical = physical_bytes_of(sets);
  const auto page = sets.front().page_size_bytes;
  if (page != kSmallPageBytes) {
    check_huge_pages(physical, page, limits);
  } else if (limits.available_bytes != 0 && physical > limits.available_bytes) {
    throw RunError("blocks: " + mebibytes(physical) + " of memory are needed and this host has " +
                   mebibytes(limits.available_bytes) + " available: lower --blocks or --block-size");
  }
  std::uint64_t mapped = 0;
  for (const auto& set : sets) mapped += layout_of(set).mapped_bytes;
  if (!registered || mapped <= limits.memlock_bytes) return;
  throw RunError("blocks: " + mebibytes(mapped) + " are to be registered and this process may lock " +
                 mebibytes(limits.memlock_bytes) +
                 " (RLIMIT_MEMLOCK): raise it with ulimit -l or in limits.conf, or use fewer blocks");
}

BlockPool::BlockPool(std::span<const WorkingSet> sets) {
  if (sets.empty()) return;
  const MemoryFile memory{physical_bytes_of(sets), sets.front().page_size_bytes};
  mappings_.reserve(sets.size());
  try {
    for (const auto& set : sets) map(set, memory.descriptor());
  } catch (const RunError&) {
    unmap();
    throw;
  }
}

BlockPool::~BlockPool() { unmap(); }

void BlockPool::map(const WorkingSet& set, int memory) {
  Mapping mapping;
  mapping.layout = layout_of(set);
  // Reserved with room for the alignment that huge pages need; every alias then takes its place in it.
  mapping.reserved_bytes = mapping.layout.mapped_bytes + set.page_size_bytes;
  auto* const reserved =
      mmap(nullptr, mapping.reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) refuse("cannot reserve addresses for " + mebibytes(mapping.layout.mapped_bytes), errno);
  mapping.reserved = static_cast<std::byte*>(reserved);
  const auto first = reinterpret_cast<std::uintptr_t>(reserved);
  mapping.base = mapping.reserved + (round_up(first, set.page_size_bytes) - first);
  mappings_.push_back(mapping);
  for (std::uint32_t alias = 0; alias < set.alias_count; ++alias) {
    auto* const at = mapping.base + alias * mapping.layout.physical_bytes;
    if (mmap(at, mapping.layout.physical_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, memory,
             0) == MAP_FAILED) {
      refuse("cannot map " + mebibytes(mapping.layout.physical_bytes), errno);
    }
  }
}

void BlockPool::unmap() noexcept {
  for (const auto& mapping : mappings_) munmap(mapping.reserved, mapping.reserved_bytes);
  mappings_.clear();
}

}  // namespace mtuscope
