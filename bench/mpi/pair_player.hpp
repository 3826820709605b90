#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/mpi/star.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "options.hpp"
#include "pair_letters.hpp"

namespace mtuscope::cli {

/// One rank's part in a run of pairs: it measures with the ranks it is told to, one after another.
class PairPlayer {
 public:
  /// `stop` ends a pair early where this rank initiates. Both must outlive the player.
  PairPlayer(const SweepOptions& options, std::uint32_t rank, const std::atomic<bool>& stop);

  /// Who this rank is, or why it cannot measure.
  [[nodiscard]] RankHello hello();
  /// The plan of every pair. Before the first `play`.
  void take_plan(const sweep::SweepSpec& spec) { spec_ = spec; }
  /// Measures with the other rank of `order`, who must be told so too. A responder whose pair went well has nothing to
  /// report.
  [[nodiscard]] std::optional<PairReport> play(const PairOrder& order);

 private:
  [[nodiscard]] PairReport initiate(const PairOrder& order, Backend& backend, Exchange& exchange);

  const SweepOptions& options_;
  const std::uint32_t rank_;
  const std::atomic<bool>& stop_;
  sweep::SweepSpec spec_;
  Environment environment_;
};

/// Any rank but 0: says hello, obeys rank 0 until it says the end. Throws RunError when rank 0 is gone.
void obey(const mpi::Star& star, PairPlayer& player, std::uint64_t round_timeout_ns, std::uint64_t timeout_ns);

}  // namespace mtuscope::cli
