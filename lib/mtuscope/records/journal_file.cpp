#include "mtuscope/records/journal_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/records/file_descriptor.hpp"

namespace mtuscope::records {
namespace {

/// Length of the file up to and including its last line feed.
std::uint64_t whole_lines_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  std::uint64_t bytes = 0;
  while (std::getline(in, line) && !in.eof()) bytes += line.size() + 1;
  return bytes;
}

[[noreturn]] void cannot_write(const std::string& path, int error_number) {
  throw RunError("cannot write " + path + ": " + error_text(error_number) +
                 "; what was measured so far is in it: free space there and continue with --resume");
}

/// Whether the file is this process's alone now; a run holds the lock of its journal as long as it lives.
bool lock(const FileDescriptor& file) { return flock(file.number(), LOCK_EX | LOCK_NB) == 0; }

[[noreturn]] void refuse_busy(const std::string& path) {
  throw ConfigError(path + " is in use by another run; wait for its end, or name another file with --out");
}

[[noreturn]] void refuse_existing(const std::string& path) {
  const FileDescriptor file(path, O_RDONLY | O_NONBLOCK);
  if (file.number() >= 0 && !lock(file)) refuse_busy(path);
  throw ConfigError(path + " exists: a run was ended early; continue it with --resume, or delete the file");
}

}  // namespace

std::string journal_line(const std::function<void(JsonWriter& out)>& members) {
  std::ostringstream text;
  {
    JsonWriter out(text, JsonWriter::Layout::one_line);
    out.begin_object();
    members(out);
    out.end_object();
  }
  text.put('\n');
  return text.str();
}

std::string journal_path(const std::string& record_path) { return record_path + ".journal"; }

JournalFile::JournalFile(std::string path, Mode mode, const std::string& first_line) : path_(std::move(path)) {
  const int flags = O_WRONLY | O_APPEND | (mode == Mode::start ? O_CREAT | O_EXCL : 0);
  file_ = std::make_unique<FileDescriptor>(path_, flags);
  if (file_->number() < 0 && errno == EEXIST) refuse_existing(path_);
  if (file_->number() < 0) throw ConfigError("cannot open " + path_ + ": " + error_text(errno));
  if (!lock(*file_)) refuse_busy(path_);
  if (mode == Mode::start) {
    begin(first_line);
    return;
  }
  struct stat status {};
  if (fstat(file_->number(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw ConfigError(path_ + " is no regular file, so it is no journal; name the record it belongs to");
  }
  good_bytes_ = whole_lines_bytes(path_);
  if (ftruncate(file_->number(), static_cast<off_t>(good_bytes_)) != 0) cannot_write(path_, errno);
}

JournalFile::~JournalFile() = default;

/// A journal without its first line would only be in the next run's way.
void JournalFile::begin(const std::string& line) {
  if (file_->write_all(line)) {
    good_bytes_ = line.size();
    return;
  }
  const int error_number = errno;
  unlink(path_.c_str());
  throw RunError("cannot write " + path_ + ": " + error_text(error_number) +
                 "; nothing was measured yet: free space there or name another file with --out");
}

void JournalFile::append(const std::string& line) {
  if (!file_->write_all(line)) {
    const int error_number = errno;
    // Half a line may be there; without it the journal can be continued when there is space again.
    const bool repaired = ftruncate(file_->number(), static_cast<off_t>(good_bytes_)) == 0;
    static_cast<void>(repaired);  // otherwise the reader drops the torn line
    cannot_write(path_, error_number);
  }
  good_bytes_ += line.size();
}

void JournalFile::discard() {
  if (unlink(path_.c_str()) != 0 && errno != ENOENT) {
    throw RunError("cannot remove " + path_ + ": " + error_text(errno) + "; the record itself is complete");
  }
}

}  // namespace mtuscope::records
