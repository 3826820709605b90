#pragma once
#include <cstdint>
#include <vector>

#include "mtuscope/model/page_cache.hpp"

namespace mtuscope::test {

/// Least recently used: what a cache with NRU's cliff, but without its hysteresis, looks like.
class LruPageCache {
 public:
  explicit LruPageCache(std::uint32_t entries) : entries_(entries) {}

  void clear(std::uint32_t page_count) {
    links_.assign(std::size_t{page_count} + 1, {});
    head_ = page_count;
    links_[head_] = {head_, head_, true};
    used_ = 0;
  }
  [[nodiscard]] bool touch(std::uint32_t page) noexcept {
    const bool missed = !links_[page].held;
    if (!missed) {
      unlink(page);
    } else if (used_ == entries_) {
      unlink(links_[head_].newer);
    } else {
      ++used_;
    }
    push(page);
    return missed;
  }

 private:
  /// A ring: the head's newer is the oldest page, its older the newest.
  struct Link {
    std::uint32_t newer = 0;
    std::uint32_t older = 0;
    bool held = false;
  };
  void unlink(std::uint32_t page) noexcept {
    auto& link = links_[page];
    links_[link.newer].older = link.older;
    links_[link.older].newer = link.newer;
    link.held = false;
  }
  void push(std::uint32_t page) noexcept {
    const auto newest = links_[head_].older;
    links_[page] = {head_, newest, true};
    links_[newest].newer = page;
    links_[head_].older = page;
  }

  std::uint32_t entries_;
  std::uint32_t used_ = 0;
  std::uint32_t head_ = 0;
  std::vector<Link> links_;
};

static_assert(model::PageCache<LruPageCache>);

}  // namespace mtuscope::test
