#include "mtuscope/records/file_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace mtuscope::records {

FileDescriptor::FileDescriptor(const std::string& path, int flags) noexcept
    : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

bool FileDescriptor::write_all(std::string_view bytes) const noexcept {
  while (!bytes.empty()) {
    const auto written = write(number_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace mtuscope::records
