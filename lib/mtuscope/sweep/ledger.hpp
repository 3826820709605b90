#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/outcome.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/sweep/sink.hpp"
#include "mtuscope/sweep/spec.hpp"

namespace mtuscope::sweep {

/// What a run knows of each of its points, and when a point has enough. Whoever measures adds trials and settles what
/// fails; the plan of rounds, the stop rule and the numbers of trials are kept here. Tells the sink.
class Ledger {
 public:
  /// The points of `spec`, with what a resumed run had measured. `sink` outlives the ledger.
  Ledger(const SweepSpec& spec, bool deterministic, Sink& sink, Resume resume);

  // --- the points
  [[nodiscard]] const std::vector<Point>& points() const noexcept { return points_; }
  [[nodiscard]] bool is_open(std::size_t i) const { return !outcomes_[i]; }
  /// Whether any point has no outcome yet.
  [[nodiscard]] bool unfinished() const;
  /// Trials of all points, those of a resumed run included.
  [[nodiscard]] std::uint64_t trial_count() const noexcept { return progress_.trials_done; }

  // --- the plan: blocks of rounds, each block in an arrangement of its own
  [[nodiscard]] std::uint32_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint32_t rounds_per_block() const noexcept { return rounds_; }
  /// Whether a round has nothing to add to a point: it has an outcome, that trial, or as many as it may have.
  [[nodiscard]] bool is_settled(std::size_t i, std::uint32_t round) const;
  /// Whether any round of a block is not complete yet (all are, when a resumed run had got beyond it).
  [[nodiscard]] bool block_missing(std::uint32_t block) const;

  /// Whether --max-time is over.
  [[nodiscard]] bool out_of_time() const noexcept;

  // --- what was measured
  /// A fresh set-up begins: the next arrangement, unless the one before has no trial.
  void begin_arrangement() noexcept;
  void add_session(SessionRecord session);
  void add_warmup(std::size_t i, std::uint64_t messages) { warmup_messages_[i] += messages; }
  /// Gives the trial its arrangement and place in the order.
  void add_trial(std::size_t i, Trial trial);

  // --- how points end
  void fail(std::size_t i, std::string reason);
  void skip(std::size_t i, std::string reason);
  /// Ends a point early: measured with the note "<cause> after trial N: <reason>", or failed if it has no trial.
  void give_up(std::size_t i, const std::string& cause, const std::string& reason);
  /// Applies the stop rule to every point that has its minimum; the points of a series stop together.
  void stop_finished();
  /// Ends a point with the run: one with trials is reported as it is, another is skipped with `cause`, or failed with
  /// `failure` if there is one. Not told to the sink, so that a resumed run takes the point up again.
  void end_early(std::size_t i, const std::string& cause, const std::optional<std::string>& failure);
  /// Hands over points, outcomes and sessions; every point has an outcome then.
  void move_into(RunResult& result);

 private:
  [[nodiscard]] Measured measured(std::size_t i, std::string note);
  void stop_series(std::size_t begin, std::size_t end);
  [[nodiscard]] bool narrow_enough(std::size_t i) const;
  [[nodiscard]] std::optional<std::uint32_t> session_of(const Point& point) const;
  [[nodiscard]] std::uint64_t planned_trials() const noexcept { return std::uint64_t{rounds_} * blocks_; }
  void settle(std::size_t i, Outcome outcome);
  [[nodiscard]] std::uint64_t elapsed_ns() const noexcept;

  const SweepSpec& spec_;
  const bool deterministic_;
  Sink& sink_;
  const std::uint32_t blocks_;  ///< at least so many arrangements
  const std::uint32_t min_trials_;
  const std::uint32_t rounds_;  ///< per block
  const std::uint64_t begin_ns_;
  std::vector<Point> points_;
  std::vector<std::vector<Trial>> trials_;
  std::vector<std::uint64_t> warmup_messages_;
  std::vector<std::optional<Outcome>> outcomes_;
  std::vector<SessionRecord> sessions_;
  std::uint64_t order_ = 0;
  std::uint32_t arrangement_ = 0;
  bool arrangement_has_trial_ = false;
  Progress progress_;
};

}  // namespace mtuscope::sweep
