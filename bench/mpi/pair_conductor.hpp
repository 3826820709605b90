#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "commands.hpp"
#include "mtuscope/mpi/star.hpp"
#include "mtuscope/records/pair_journal.hpp"
#include "mtuscope/sweep/pair_schedule.hpp"
#include "options.hpp"
#include "pair_player.hpp"
#include "run_record.hpp"

namespace mtuscope::cli {

/// Rank 0 of a run of pairs: plans the rounds, tells every rank whom to measure with, and keeps what comes back.
class PairConductor {
 public:
  /// Meets the other ranks. `star` and `options` must outlive it. Throws ConfigError that names the rank which cannot
  /// measure, and RunError when one does not come.
  PairConductor(const mpi::Star& star, std::uint32_t rank_count, const SweepOptions& options,
                const CommandContext& context);
  PairConductor(const PairConductor&) = delete;
  PairConductor& operator=(const PairConductor&) = delete;
  /// Tells every rank that it is over.
  ~PairConductor();

  /// Measures, writes and shows. Throws ConfigError (plan, list of pairs, output) and RunError (nothing measured).
  [[nodiscard]] ExitCode run();
  /// Whether a rank does not answer any more, so that the job cannot end by itself.
  [[nodiscard]] bool lost_a_rank() const noexcept { return !losses_.empty(); }

 private:
  /// One round while it runs: the pairs that have not reported.
  struct Round {
    Deadline deadline;
    std::set<sweep::RankPair> open{};
    std::uint64_t longest_ns = 0;                       ///< of the pairs that have
    std::map<sweep::RankPair, std::string> forsaken{};  ///< pairs whose responder has lost its initiator
    std::optional<Deadline> grace{};                    ///< for the initiators of those to say better
  };

  void meet();
  void name_ranks(const std::vector<RankHello>& hellos);
  [[nodiscard]] sweep::PairSchedule make_schedule() const;
  void start_journal(const sweep::SweepSpec& spec);
  void tell(std::uint32_t rank, const PairOrder& order) const;
  void tell_all(const PairOrder& order) const;
  void introduce(const sweep::PairSchedule& schedule, const sweep::SweepSpec& spec) const;
  [[nodiscard]] bool may_go_on() const;
  void run_rounds(const sweep::PairSchedule& schedule);
  void run_round(std::uint32_t number, std::uint32_t count, std::span<const sweep::RankPair> pairs);
  void collect(Round& round);
  void take(Round& round, std::uint32_t rank, PairReport report);
  void lose(const sweep::RankPair& pair, const std::string& reason);
  [[nodiscard]] std::uint64_t missing_count(const sweep::PairSchedule& schedule) const;
  [[nodiscard]] ExitCode finish(const sweep::PairSchedule& schedule);
  [[nodiscard]] RunJudge show(const records::PairJournalIndex& index) const;

  const mpi::Star& star_;
  const std::uint32_t rank_count_;
  const SweepOptions& options_;
  const CommandContext& context_;
  const std::uint64_t begin_ns_;
  PairPlayer player_;
  std::unique_ptr<Backend> backend_;  ///< for plan and header only
  records::RecordHeader header_;
  std::unique_ptr<records::JournalFile> journal_;
  std::set<sweep::RankPair> done_;
  bool interrupted_ = false;  ///< by a signal to any rank
  std::vector<std::string> losses_;
};

}  // namespace mtuscope::cli
