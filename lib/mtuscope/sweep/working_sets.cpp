// The rules for working sets of registered blocks.
#include <algorithm>
#include <string>

#include "mtuscope/core/error.hpp"
#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/block_pool.hpp"

namespace mtuscope::sweep {
namespace {

void require(bool holds, const char* message) {
  if (!holds) throw ConfigError(message);
}

void check_set(const WorkingSet& set, std::uint64_t largest_message_bytes) {
  if (set.block_count < 1 || set.block_count > kMaxBlockCount) {
    throw ConfigError("--blocks " + std::to_string(set.block_count) + ": must be between 1 and " +
                      std::to_string(kMaxBlockCount));
  }
  if (set.block_size_bytes < largest_message_bytes) {
    throw ConfigError("--block-size " + std::to_string(set.block_size_bytes) + " is smaller than a message of " +
                      std::to_string(largest_message_bytes) + " B: raise it, or lower --size");
  }
  if (set.block_size_bytes > kMaxMessageBytes) throw ConfigError("--block-size must be at most 2G");
  require(is_page_size(set.page_size_bytes), "--pages must be 4K, 2M or 1G");
  if (set.alias_count < 1 || set.alias_count > set.block_count) {
    throw ConfigError("--alias " + std::to_string(set.alias_count) +
                      ": must be between 1 and the number of blocks, of which so many share their memory");
  }
  require(aliases_join(set),
          "--alias with huge pages: the blocks that are in memory (--blocks / --alias) must fill whole pages");
  if (layout_of(set).mapped_bytes > kMaxMappedBytes) {
    throw ConfigError(std::to_string(set.block_count) + " blocks of " + std::to_string(set.block_size_bytes) +
                      " B are more than the 16 TiB that can be mapped: lower --blocks or --block-size");
  }
}

}  // namespace

void check_working_sets(const SweepSpec& spec) {
  if (spec.working_sets.empty()) return;
  const auto is_stream = [](Pattern pattern) { return pattern == Pattern::stream; };
  require(std::all_of(spec.patterns.begin(), spec.patterns.end(), is_stream),
          "--blocks: blocks are cycled through by streams only; give --pattern stream");
  require(spec.qp_count == 1, "--blocks: one queue pair gives the order in which blocks are reused; leave --qp at 1");
  require(spec.inline_bytes == 0, "--blocks: an inline message is copied by the CPU and the device sees no block");
  require(!spec.segment, "--blocks: a segmented message has no block of its own; leave --segment out");
  const auto largest = *std::max_element(spec.message_sizes_bytes.begin(), spec.message_sizes_bytes.end());
  for (const auto& set : spec.working_sets) check_set(set, largest + spec.header_bytes);
}

}  // namespace mtuscope::sweep
