#include "mtuscope/core/error.hpp"

#include <system_error>

namespace mtuscope {

SystemError::SystemError(const std::string& what, int error_number)
    : RunError(what + ": " +
               (error_number == 0 ? std::string{"unknown error (the call set no errno)"}
                                  : std::generic_category().message(error_number))),
      error_number_(error_number) {}

}  // namespace mtuscope
