#pragma once
#include <stdexcept>
#include <string>

namespace mtuscope {

/// What the user asked for cannot be done as asked (option, plan, file name). Exit code 2.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run itself failed: set-up, connection, output. Exit code 3.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The other end went away, answered out of turn, or did not answer before a deadline. A RunError.
class PeerError : public RunError {
 public:
  using RunError::RunError;
};

/// An errno in words. (strerror is not safe to call from several threads.)
[[nodiscard]] std::string error_text(int error_number);

/// A system call failed: "what: strerror(error_number)". A RunError that keeps the errno.
class SystemError : public RunError {
 public:
  SystemError(const std::string& what, int error_number);
  [[nodiscard]] int error_number() const noexcept { return error_number_; }

 private:
  int error_number_;
};

}  // namespace mtuscope
