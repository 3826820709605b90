#pragma once
#include <string>

#include "mtuscope/transport/idle.hpp"
#include "mtuscope/verbs/channel.hpp"

namespace mtuscope::verbs {

/// A failed completion in words, with what to do next: "RC send on queue pair 0x11: transport retry counter exceeded
/// (status 12, vendor 0x81): the peer does not answer ...".
[[nodiscard]] std::string describe(const WorkError& error);

/// Why a kernel stopped, in one line. `flushed`: completions found after the queue pairs were moved to ERR.
[[nodiscard]] std::string describe_failure(KernelStatus status, const VerbsChannel& channel, std::uint64_t flushed);

}  // namespace mtuscope::verbs
