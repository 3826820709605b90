#pragma once
#include <memory>

#include "mtuscope/transport/backend.hpp"

namespace mtuscope::memory {

/// Everything but the send: descriptors are set up and the message is dropped. What it costs is our own cost.
[[nodiscard]] std::unique_ptr<Backend> make_null();

/// The payload is written with memset instead of being sent: memory's own floor under any transfer.
[[nodiscard]] std::unique_ptr<Backend> make_memset();

}  // namespace mtuscope::memory
