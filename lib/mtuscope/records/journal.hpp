#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mtuscope/records/result_set.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/sweep/sink.hpp"

namespace mtuscope::records {

class FileDescriptor;

/// The journal's name for a record's.
[[nodiscard]] std::string journal_path(const std::string& record_path);

/// A run on disk while it runs: one line of JSON per event, handed to the kernel with one write(2) each, so that a
/// killed process loses at most the line it was writing. docs/result-format.md describes the lines.
class Journal : public sweep::Sink {
 public:
  enum class Mode { start, resume };
  /// `start` makes the file and refuses one that exists: it is what a killed run left. `resume` appends to it, cutting
  /// off a last line that was not finished; load it first. Throws ConfigError (exists, in use by another process,
  /// cannot be opened) and RunError (cannot be written; then `start` leaves no file).
  Journal(std::string path, Mode mode, const RecordHeader& header, const std::vector<Point>& points);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() override;

  /// All throw RunError when the line cannot be written; what was written before stays readable.
  void on_responder(const Environment& responder) override;
  void on_session(const sweep::SessionRecord& session) override;
  void on_trial(std::size_t point_index, const Trial& trial) override;
  void on_outcome(std::size_t point_index, const Outcome& outcome) override;
  void on_progress(const sweep::Progress&) override {}

  /// Removes the file: the record was written, or nothing worth keeping was measured.
  void discard();

 private:
  void begin(const std::string& line);
  void append(const std::string& line);

  std::string path_;
  std::unique_ptr<FileDescriptor> file_;
  std::uint64_t good_bytes_ = 0;  ///< length up to the last whole line
};

/// What a killed run had measured, for its continuation under the same plan. A last line that was not finished is
/// dropped. Throws ConfigError (no such file; another plan, saying in what it differs), SchemaError (damaged; the name
/// in it carries the line number).
[[nodiscard]] sweep::Resume load_journal(const std::string& path, const sweep::SweepSpec& spec,
                                         const std::vector<Point>& points);

/// The journal of a killed run as an incomplete record: every point with what it had so far.
[[nodiscard]] ResultSet read_journal(const std::string& path);

}  // namespace mtuscope::records
