#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "mtuscope/core/point.hpp"
#include "mtuscope/model/page_cache.hpp"
#include "mtuscope/model/pass_series.hpp"
#include "mtuscope/model/simulated_channel.hpp"
#include "mtuscope/transport/block_cycle.hpp"

namespace mtuscope::model {

/// A Myrinet card whose LANai processor keeps page translations in a cache. The equations are in docs/models.md; values
/// and their sources in catalog.cpp.
struct LanaiModel {
  double ns_per_byte = 0;
  double message_ns = 0;               ///< per message, whatever its size
  double page_miss_ns = 0;             ///< per page whose translation has to be fetched from the host
  std::uint32_t cache_entries = 0;     ///< pages
  std::uint32_t held_back_blocks = 0;  ///< of a working set: blocks that do not circulate
};

/// What the card's cache translates [bytes].
inline constexpr std::uint64_t kLanaiPageBytes = 4096;
/// The largest working set the model simulates: 16 GiB [pages].
inline constexpr std::uint64_t kLanaiMaxPages = std::uint64_t{1} << 22U;

[[nodiscard]] constexpr std::uint64_t lanai_pages(std::uint64_t bytes) noexcept {
  return (bytes + kLanaiPageBytes - 1) / kLanaiPageBytes;
}

/// The blocks of `point` that messages cycle through; 1 without a working set.
[[nodiscard]] constexpr std::uint64_t circulating_blocks(const LanaiModel& model, const Point& point) noexcept {
  if (!point.working_set) return 1;
  const auto blocks = std::max<std::uint64_t>(1, point.working_set->block_count);
  return blocks - std::min<std::uint64_t>(blocks - 1, model.held_back_blocks);
}

/// The sending card: a message costs T = message_ns + size * ns_per_byte + misses * page_miss_ns, where every 4 KiB
/// page that it touches is looked up. Block b begins at page b * ceil(block size / 4 KiB).
///
/// A trial that does not go on with a series of passes (PassSeries) begins with an empty cache and is warmed, before
/// its time 0, by whole cycles through the blocks: until a cycle misses nothing or everything, but at most 16.
template <PageCache Cache>
class LanaiDevice {
 public:
  using Parameters = LanaiModel;

  explicit LanaiDevice(const LanaiModel& model) : model_(model), cache_(model.cache_entries) {}

  void configure(const Point& point) {
    pages_ = static_cast<std::uint32_t>(lanai_pages(point.message_size_bytes));
    hit_ns_ = model_.message_ns + static_cast<double>(point.message_size_bytes) * model_.ns_per_byte;
    now_ns_ = 0;
    if (series_.goes_on_with(point) && point.working_set) return;
    const auto block_bytes = point.working_set ? point.working_set->block_size_bytes : point.message_size_bytes;
    const auto blocks = circulating_blocks(model_, point);
    block_pages_ = static_cast<std::uint32_t>(lanai_pages(block_bytes));
    cache_.clear(static_cast<std::uint32_t>(blocks * block_pages_));
    cycle_.emplace(blocks, point.working_set ? point.working_set->order : ReuseOrder::fifo,
                   point.tx_depth.value_or(kDefaultInFlight));
    warm(blocks);
  }

  [[nodiscard]] double next_completion_ns() noexcept {
    now_ns_ += hit_ns_ + model_.page_miss_ns * send();
    return now_ns_;
  }

 private:
  static constexpr std::uint32_t kDefaultInFlight = 8;  // gm_allsize's concurrent sends
  static constexpr int kMaxWarmCycles = 16;

  /// One message; returns its misses. The window of sends is always full, so blocks need not be given back: the cycle
  /// itself takes the oldest when none is free.
  [[nodiscard]] std::uint32_t send() noexcept {
    const auto first = cycle_->next() * block_pages_;
    std::uint32_t misses = 0;
    for (auto page = first; page < first + pages_; ++page) misses += cache_.touch(page) ? 1 : 0;
    return misses;
  }

  void warm(std::uint64_t messages) noexcept {
    for (int cycle = 0; cycle < kMaxWarmCycles; ++cycle) {
      std::uint64_t misses = 0;
      for (std::uint64_t i = 0; i < messages; ++i) misses += send();
      const bool settled = misses == 0 || misses == messages * pages_;
      if (settled && cycle > 0) return;  // the first cycle fills an empty cache
    }
  }

  LanaiModel model_;
  Cache cache_;
  std::optional<BlockCycle> cycle_;
  PassSeries series_;
  std::uint32_t pages_ = 0;
  std::uint32_t block_pages_ = 0;
  double hit_ns_ = 0;
  double now_ns_ = 0;
};

static_assert(SimulatedDevice<LanaiDevice<NruPageCache>>);

}  // namespace mtuscope::model
