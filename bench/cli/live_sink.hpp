#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "console.hpp"
#include "mtuscope/report/series_table.hpp"
#include "mtuscope/sweep/sink.hpp"
#include "mtuscope/transport/backend.hpp"
#include "progress.hpp"

namespace mtuscope::cli {

/// Shows a run while it goes on: the progress line, and on a terminal the tables, row by row as soon as a row and all
/// rows above it are finished. Hands every event on to the journal, if there is one.
class LiveSink final : public sweep::Sink {
 public:
  /// All arguments must outlive the sink; `journal` may be null.
  LiveSink(const Console& console, const std::vector<Point>& points, const Backend& backend, sweep::Sink* journal);

  void on_responder(const Environment& responder) override;
  void on_session(const sweep::SessionRecord& session) override;
  void on_trial(std::size_t point_index, const Trial& trial) override;
  void on_outcome(std::size_t point_index, const Outcome& outcome) override;
  void on_progress(const sweep::Progress& progress) override;

  /// Whether rows were printed as they finished.
  [[nodiscard]] bool prints_rows() const noexcept { return prints_rows_; }
  /// Trials seen so far.
  [[nodiscard]] std::uint64_t trial_count() const noexcept { return trial_count_; }
  /// Outcomes that a resumed run begins with; they are in the journal already.
  void begin_with(const std::vector<std::optional<Outcome>>& outcomes);
  /// Prints the rows that are left, and takes the progress line away.
  void finish(const std::vector<Outcome>& outcomes);
  /// Takes the progress line away after a failure.
  void abandon() { progress_.clear(); }

 private:
  void keep(std::size_t point_index, const Outcome& outcome);
  void print_finished_rows();
  [[nodiscard]] bool finished(const std::vector<std::optional<std::size_t>>& indices) const;
  void print_row(const report::SeriesLayout& layout, std::uint64_t message_size_bytes,
                 const std::vector<std::optional<std::size_t>>& indices);

  const Console& console_;
  sweep::Sink* journal_;
  const Backend& backend_;
  bool prints_rows_;
  ProgressLine progress_;
  std::vector<report::SeriesLayout> layouts_;
  std::vector<std::optional<Outcome>> outcomes_;  ///< without trials: only what a row shows
  std::uint64_t trial_count_ = 0;
  std::size_t layout_ = 0;
  std::size_t row_ = 0;
};

}  // namespace mtuscope::cli
