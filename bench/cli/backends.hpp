#pragma once
#include <memory>
#include <string>

#include "mtuscope/transport/backend.hpp"
#include "options.hpp"

namespace mtuscope::cli {

/// The back end a name stands for: "verbs", "null", "memset", "model:NAME". Throws ConfigError for an unknown name or
/// device, RunError for a device that cannot be used.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const std::string& name, const DeviceOptions& device);

/// The device of one of the ends that a command line starts: what --peer-ib-dev and its like leave out is the same.
[[nodiscard]] DeviceOptions end_device(const SweepOptions& options, Role role);

/// Everything about this end: host, versions, and the back end's device.
[[nodiscard]] Environment describe_end(const Backend& backend, std::optional<int> cpu);

}  // namespace mtuscope::cli
