#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtuscope::sweep {

/// Two ranks that measure with each other.
struct RankPair {
  std::uint32_t initiator = 0;
  std::uint32_t responder = 0;
  friend auto operator<=>(const RankPair&, const RankPair&) = default;  // NOLINT(modernize-use-nullptr): its own 0
};

/// Which ranks measure with each other, in rounds of disjoint pairs: all pairs of a round run at the same time.
class PairSchedule {
 public:
  /// Every rank with every other one: `rank_count` - 1 rounds, one more where that number is odd and each round leaves
  /// one rank out. The round robin of the circle method (E. Lucas, Recreations mathematiques II, 1883): in round r the
  /// ranks i and j meet where i + j = r modulo the number of rounds. Rounds are computed, not kept.
  [[nodiscard]] static PairSchedule all(std::uint32_t rank_count);
  /// Every rank with the next one, the last with the first: two rounds, three for an odd number of ranks.
  [[nodiscard]] static PairSchedule ring(std::uint32_t rank_count);
  /// Rank i with rank i + `rank_count` / 2: one round, across the middle. The last of an odd number is left out.
  [[nodiscard]] static PairSchedule halves(std::uint32_t rank_count);
  /// These pairs, each in the first round that has neither of its ranks yet.
  [[nodiscard]] static PairSchedule list(const std::vector<RankPair>& pairs);

  /// Lets every round be followed by itself with initiators and responders exchanged.
  void add_reverse() noexcept { both_directions_ = true; }

  [[nodiscard]] std::uint32_t round_count() const noexcept;
  /// The pairs of round `round`, which is below `round_count`.
  [[nodiscard]] std::vector<RankPair> round(std::uint32_t round) const;
  /// Of all rounds.
  [[nodiscard]] std::uint64_t pair_count() const noexcept;

 private:
  [[nodiscard]] std::uint32_t rounds_one_way() const noexcept;
  [[nodiscard]] std::vector<RankPair> round_of_all(std::uint32_t round) const;

  std::uint32_t rank_count_ = 0;  ///< of `all`; 0: the rounds are kept
  std::vector<std::vector<RankPair>> rounds_;
  bool both_directions_ = false;
};

/// Reads pairs of rank numbers or rank names, "A B" on a line, initiator first; # begins a comment. Throws ConfigError
/// with the line's number: an unknown or ambiguous rank, a rank with itself, a pair twice.
[[nodiscard]] std::vector<RankPair> parse_pairs(std::string_view text, const std::vector<std::string>& rank_names);

}  // namespace mtuscope::sweep
