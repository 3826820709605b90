#pragma once
#include <functional>
#include <iosfwd>
#include <string>

#include "mtuscope/records/result_set.hpp"

namespace mtuscope::records {

/// Whether `path` exists and is neither a regular file nor a folder: a pipe, /dev/null. Such a one is written to
/// directly, and no journal can lie beside it.
[[nodiscard]] bool is_special_file(const std::string& path) noexcept;

/// Throws ConfigError unless a file `path` could be written; for before a run. Leaves nothing behind.
void check_writable(const std::string& path);

/// Writes the record so that `path` holds all of it or what it held before: a temporary file in the same directory,
/// fsync, rename. A special file is written to directly.
/// Throws RunError naming the file and what the system said; the temporary file is removed.
void write_record_file(const std::string& path, const ResultSet& record);
/// The same for a record that is never whole in memory: `write` writes it to the stream.
using RecordBody = std::function<void(std::ostream& out)>;
void write_record_file(const std::string& path, const RecordBody& write);

/// Reads a record. Throws ConfigError (cannot be opened) and what read_record throws.
[[nodiscard]] ResultSet read_record_file(const std::string& path);

}  // namespace mtuscope::records
