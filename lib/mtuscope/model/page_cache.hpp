#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mtuscope::model {

// clang-format 14 does not know requirements with noexcept and a return type.
// clang-format off

/// A cache of page translations, made with its number of entries.
/// - `clear(page_count)`: empties it; pages are numbered from 0 to below `page_count`. May allocate.
/// - `touch(page)`: looks a page up and takes it in; true if it was not there (a miss).
template <class T>
concept PageCache = std::constructible_from<T, std::uint32_t> && requires(T& cache, std::uint32_t page) {
  cache.clear(page);
  { cache.touch(page) } noexcept -> std::same_as<bool>;
};
// clang-format on

/// Not recently used, with one reference bit per entry: a page that is found or taken in sets its entry's bit; a hand
/// that goes round replaces the next entry whose bit is clear; when no bit is clear, all are cleared first.
///
/// GM's headers (2004) allocate a bitmap of one bit per cached entry; that it is used like this is an inference from
/// the posted drop table. See docs/models.md.
class NruPageCache {
 public:
  /// `entries` is at least 1.
  explicit NruPageCache(std::uint32_t entries)
      : page_of_(entries), referenced_((std::size_t{entries} + kWordBits - 1) / kWordBits) {}

  void clear(std::uint32_t page_count) {
    entry_of_.assign(page_count, kNowhere);
    used_ = 0;
    hand_ = 0;
    clear_references();
  }

  [[nodiscard]] bool touch(std::uint32_t page) noexcept {
    const auto found = entry_of_[page];
    if (found != kNowhere) {
      reference(found);
      return false;
    }
    const auto entry = used_ < page_of_.size() ? used_++ : evict();
    page_of_[entry] = page;
    entry_of_[page] = entry;
    reference(entry);
    return true;
  }

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  static constexpr std::uint32_t kWordBits = 64;

  void reference(std::uint32_t entry) noexcept {
    auto& word = referenced_[entry / kWordBits];
    const auto bit = std::uint64_t{1} << (entry % kWordBits);
    referenced_count_ += (word & bit) == 0 ? 1 : 0;
    word |= bit;
  }

  /// Bits behind the last entry stay set, so that the hand never stops there.
  void clear_references() noexcept {
    for (auto& word : referenced_) word = 0;
    const auto in_last_word = page_of_.size() % kWordBits;
    if (in_last_word != 0) referenced_.back() = ~std::uint64_t{0} << in_last_word;
    referenced_count_ = 0;
  }

  /// Frees the next entry whose bit is clear, seen from the hand, and moves the hand behind it.
  [[nodiscard]] std::uint32_t evict() noexcept {
    if (referenced_count_ == page_of_.size()) clear_references();
    std::size_t word = hand_ / kWordBits;
    auto candidates = ~referenced_[word] & (~std::uint64_t{0} << (hand_ % kWordBits));
    while (candidates == 0) {
      word = word + 1 == referenced_.size() ? 0 : word + 1;
      candidates = ~referenced_[word];
    }
    const auto entry =
        static_cast<std::uint32_t>(word * kWordBits) + static_cast<std::uint32_t>(std::countr_zero(candidates));
    hand_ = entry + 1 == page_of_.size() ? 0 : entry + 1;
    entry_of_[page_of_[entry]] = kNowhere;
    return entry;
  }

  std::vector<std::uint32_t> entry_of_;  ///< by page
  std::vector<std::uint32_t> page_of_;   ///< by entry
  std::vector<std::uint64_t> referenced_;
  std::uint32_t used_ = 0;
  std::uint32_t hand_ = 0;
  std::size_t referenced_count_ = 0;
};

static_assert(PageCache<NruPageCache>);

}  // namespace mtuscope::model
