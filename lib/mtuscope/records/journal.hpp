#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "mtuscope/records/journal_file.hpp"
#include "mtuscope/records/result_set.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/sweep/sink.hpp"

namespace mtuscope::records {

/// A run on disk while it runs: one line of JSON per event. docs/result-format.md describes the lines.
class Journal : public sweep::Sink {
 public:
  using Mode = JournalFile::Mode;
  /// Throws as JournalFile does; before resuming, load it.
  Journal(std::string path, Mode mode, const RecordHeader& header, const std::vector<Point>& points);

  /// All throw RunError when the line cannot be written; what was written before stays readable.
  void on_responder(const Environment& responder) override;
  void on_session(const sweep::SessionRecord& session) override;
  void on_trial(std::size_t point_index, const Trial& trial) override;
  void on_outcome(std::size_t point_index, const Outcome& outcome) override;
  void on_progress(const sweep::Progress&) override {}

  /// Removes the file: the record was written, or nothing worth keeping was measured.
  void discard() { file_.discard(); }

 private:
  JournalFile file_;
};

/// What a killed run had measured, for its continuation under the same plan. A last line that was not finished is
/// dropped. Throws ConfigError (no such file; another plan, saying in what it differs), SchemaError (damaged; the name
/// in it carries the line number).
[[nodiscard]] sweep::Resume load_journal(const std::string& path, const sweep::SweepSpec& spec,
                                         const std::vector<Point>& points);

/// The journal of a killed run as an incomplete record: every point with what it had so far.
[[nodiscard]] ResultSet read_journal(const std::string& path);

}  // namespace mtuscope::records
