#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace mtuscope::records {

/// An open file; closed with its owner.
class FileDescriptor {
 public:
  /// open(2) with O_CLOEXEC; `number()` is negative and errno is set when it failed.
  FileDescriptor(const std::string& path, int flags) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();
  [[nodiscard]] int number() const noexcept { return number_; }
  /// Writes all of it, through interruptions and short writes; false and errno when that failed.
  [[nodiscard]] bool write_all(std::string_view bytes) const noexcept;

 private:
  int number_;
};

}  // namespace mtuscope::records
