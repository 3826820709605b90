#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/sweep/pair_schedule.hpp"

/// What rank 0 and the other ranks write to each other in a run of pairs.
namespace mtuscope::cli {

/// A rank's first words.
struct RankHello {
  std::string build;      ///< version and revision
  std::string problem{};  ///< why it cannot measure; empty: it can
  Environment environment{};
};

/// What rank 0 wants of a rank.
struct PairOrder {
  enum class Kind : std::uint8_t { plan, pair, end };
  Kind kind = Kind::end;
  std::string plan{};  ///< kind plan: the first line of the run's journal
  std::uint32_t round = 0;
  sweep::RankPair pair{};
};

/// How a pair ended, as one of its ranks saw it.
struct PairReport {
  enum class Kind : std::uint8_t { measured, interrupted, lost };
  Kind kind = Kind::lost;
  sweep::RankPair pair;
  std::uint64_t elapsed_ns = 0;
  std::string text{};  ///< measured: the pair's line of the journal; lost: why
};

[[nodiscard]] std::vector<std::byte> encode(const RankHello& hello);
[[nodiscard]] std::vector<std::byte> encode(const PairOrder& order);
[[nodiscard]] std::vector<std::byte> encode(const PairReport& report);
/// Throw PeerError on anything odd.
[[nodiscard]] RankHello decode_hello(std::span<const std::byte> bytes);
[[nodiscard]] PairOrder decode_order(std::span<const std::byte> bytes);
[[nodiscard]] PairReport decode_report(std::span<const std::byte> bytes);

}  // namespace mtuscope::cli
