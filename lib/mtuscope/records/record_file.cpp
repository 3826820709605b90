#include "mtuscope/records/record_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <ostream>
#include <streambuf>

#include "mtuscope/core/error.hpp"
#include "mtuscope/records/file_descriptor.hpp"
#include "mtuscope/records/json.hpp"

namespace mtuscope::records {
namespace {

/// An output stream's buffer over a descriptor; keeps the errno that std::filebuf would lose.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(const FileDescriptor& file) : file_(file) {}
  [[nodiscard]] int error() const noexcept { return error_; }

 protected:
  int_type overflow(int_type byte) override {
    const char one = traits_type::to_char_type(byte);
    return xsputn(&one, 1) == 1 ? byte : traits_type::eof();
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (error_ == 0 && !file_.write_all({bytes, static_cast<std::size_t>(count)})) error_ = errno;
    return error_ == 0 ? count : 0;
  }

 private:
  const FileDescriptor& file_;
  int error_ = 0;
};

/// A name beside `path` that no other process uses.
std::string temporary_name(const std::string& path) { return path + ".tmp" + std::to_string(getpid()); }

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A symbolic link keeps pointing where it did: its target is what gets replaced.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> target(realpath(path.c_str(), nullptr), &std::free);
  return target ? std::string(target.get()) : path;
}

[[noreturn]] void fail(const std::string& path, const char* call, int error_number) {
  const bool is_full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  throw RunError("cannot write " + path + ": " + call + ": " + error_text(error_number) +
                 (is_full ? "; free space there" : "; check the name and its permissions"));
}

void write_to(const FileDescriptor& file, const std::string& path, const RecordBody& write) {
  DescriptorBuffer buffer(file);
  std::ostream out(&buffer);
  write(out);
  out.flush();
  if (buffer.error() != 0) fail(path, "write", buffer.error());
}

/// Removes the temporary file unless it was renamed.
class Temporary {
 public:
  explicit Temporary(std::string name) : name_(std::move(name)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!name_.empty()) unlink(name_.c_str());
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool rename_to(const std::string& path) noexcept {
    if (std::rename(name_.c_str(), path.c_str()) != 0) return false;
    name_.clear();
    return true;
  }

 private:
  std::string name_;
};

}  // namespace

bool is_special_file(const std::string& path) noexcept {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void check_writable(const std::string& path) {
  const auto fail_early = [&path](int error_number) {
    throw ConfigError("cannot write " + path + ": " + error_text(error_number) + "; name another file with --out");
  };
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_early(EISDIR);
  if (exists && access(path.c_str(), W_OK) != 0) fail_early(errno);
  if (is_special_file(path)) return;
  const auto target = resolved(path);
  const auto name = temporary_name(target);
  const FileDescriptor file(name, O_WRONLY | O_CREAT | O_EXCL);
  if (file.number() < 0) fail_early(errno);
  unlink(name.c_str());
}

void write_record_file(const std::string& path, const ResultSet& record) {
  write_record_file(path, [&record](std::ostream& out) { write_record(out, record); });
}

void write_record_file(const std::string& path, const RecordBody& write) {
  if (is_special_file(path)) {
    const FileDescriptor file(path, O_WRONLY);
    if (file.number() < 0) fail(path, "open", errno);
    return write_to(file, path, write);
  }
  const auto target = resolved(path);
  const auto name = temporary_name(target);
  const FileDescriptor file(name, O_WRONLY | O_CREAT | O_EXCL);
  if (file.number() < 0) fail(path, "open", errno);
  Temporary temporary(name);
  write_to(file, path, write);
  if (fsync(file.number()) != 0) fail(path, "fsync", errno);
  if (!temporary.rename_to(target)) fail(path, "rename", errno);
  const FileDescriptor directory(directory_of(target), O_RDONLY | O_DIRECTORY);
  if (directory.number() >= 0) fsync(directory.number());  // some file systems cannot; the record itself is safe
}

ResultSet read_record_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ConfigError("cannot read " + path + ": " + error_text(errno) + "; check the name");
  return read_record(in, path);
}

}  // namespace mtuscope::records
