#include "mtuscope/core/error.hpp"

#include <system_error>

namespace mtuscope {

std::string error_text(int error_number) {
  if (error_number == 0) return "unknown error (the call set no errno)";
  return std::generic_category().message(error_number);
}

SystemError::SystemError(const std::string& what, int error_number)
    : RunError(what + ": " + error_text(error_number)), error_number_(error_number) {}

}  // namespace mtuscope
