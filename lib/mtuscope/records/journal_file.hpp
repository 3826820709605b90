#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "mtuscope/records/json_writer.hpp"

namespace mtuscope::records {

class FileDescriptor;

/// A file of whole lines that grows while a run goes on. Each line is handed to the kernel with one write(2), so that a
/// killed process loses at most the line it was writing. One process has it at a time.
class JournalFile {
 public:
  enum class Mode { start, resume };
  /// `start` makes the file with its first line and refuses one that exists: it is what a killed run left. `resume`
  /// appends to it, cutting off a last line that was not finished. Throws ConfigError (exists, in use by another
  /// process, cannot be opened) and RunError (cannot be written; then `start` leaves no file).
  JournalFile(std::string path, Mode mode, const std::string& first_line);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// `line` ends with its line feed. Throws RunError when it cannot be written; what was written before stays readable.
  void append(const std::string& line);
  /// Removes the file: the record was written, or nothing worth keeping was measured. Throws RunError.
  void discard();

 private:
  void begin(const std::string& line);

  std::string path_;
  std::unique_ptr<FileDescriptor> file_;
  std::uint64_t good_bytes_ = 0;  ///< length up to the last whole line
};

/// One object on one line, with its line feed; `members` writes what is in it.
[[nodiscard]] std::string journal_line(const std::function<void(JsonWriter& out)>& members);

/// The journal's name for a record's.
[[nodiscard]] std::string journal_path(const std::string& record_path);

}  // namespace mtuscope::records
