#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mtuscope/core/point.hpp"
#include "mtuscope/core/random.hpp"

namespace mtuscope {

/// Which block of a working set every message uses, in posting order. Back ends, models and payload checks go through
/// the same sequence; for every order but LIFO it depends on nothing but the number of the message, so that either end
/// knows what the other used.
///
/// - FIFO: block 0, 1, ..., n - 1, 0, ...: every block is used before one is used again.
/// - sawtooth: 0, 1, ..., n - 1, n - 2, ..., 1, 0, 1, ...
/// - random: drawn with replacement, by a seed of its own that never changes.
/// - LIFO: the block given back last; so no more blocks are used than messages are in flight.
class BlockCycle {
 public:
  /// `in_flight`: messages that are posted and not given back at most (at least 1).
  BlockCycle(std::uint64_t block_count, ReuseOrder order, std::uint32_t in_flight)
      : block_count_(static_cast<std::uint32_t>(std::max<std::uint64_t>(1, block_count))), order_(order) {
    if (order != ReuseOrder::lifo) return;
    free_.resize(std::min<std::size_t>(block_count_, in_flight));
    for (std::size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<std::uint32_t>(free_.size() - 1 - i);
    free_count_ = free_.size();
    used_.resize(free_.size());
  }

  /// The block of the next message. With LIFO there must be one free: see give_back.
  [[nodiscard]] std::uint32_t next() noexcept {
    switch (order_) {
      case ReuseOrder::fifo:
        return step(block_count_);
      case ReuseOrder::random:
        return static_cast<std::uint32_t>(random_.below(block_count_));
      case ReuseOrder::sawtooth: {
        const auto at = step(std::max(1U, 2 * (block_count_ - 1)));
        return at < block_count_ ? at : 2 * (block_count_ - 1) - at;
      }
      case ReuseOrder::lifo:
        break;
    }
    return take();
  }

  /// `messages` are complete, in the order in which they got their blocks.
  void give_back(std::uint32_t messages) noexcept {
    if (order_ != ReuseOrder::lifo) return;
    for (; messages > 0 && free_count_ < free_.size(); --messages) {
      free_[free_count_++] = used_[oldest_];
      oldest_ = oldest_ + 1 == used_.size() ? 0 : oldest_ + 1;
    }
  }

 private:
  static constexpr std::uint64_t kSeed = 0x626c6f636b73U;  // any; it is the same for all runs

  [[nodiscard]] std::uint32_t step(std::uint32_t period) noexcept {
    const auto at = position_;
    position_ = at + 1 == period ? 0 : at + 1;
    return at;
  }

  [[nodiscard]] std::uint32_t take() noexcept {
    if (free_count_ == 0) give_back(1);  // fewer blocks than messages in flight: the oldest is used twice
    const auto block = free_[--free_count_];
    used_[newest_] = block;
    newest_ = newest_ + 1 == used_.size() ? 0 : newest_ + 1;
    return block;
  }

  std::uint32_t block_count_;
  ReuseOrder order_;
  std::uint32_t position_ = 0;
  SplitMix64 random_{kSeed};
  std::vector<std::uint32_t> free_;  ///< LIFO: a stack
  std::vector<std::uint32_t> used_;  ///< LIFO: a ring, oldest first
  std::size_t free_count_ = 0;
  std::size_t oldest_ = 0;
  std::size_t newest_ = 0;
};

}  // namespace mtuscope
