#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/verbs/device.hpp"

namespace mtuscope::verbs {

/// What a port and its device allow.
struct PortLimits {
  std::string name;  ///< "rxe0 port 1"
  std::optional<PathMtu> active_mtu;
  std::uint64_t max_message_size_bytes = 0;
  std::uint64_t max_work_requests = 0;  ///< per queue
  std::uint64_t max_queue_pairs = 0;
  std::uint64_t max_completions = 0;  ///< per completion queue
};

[[nodiscard]] PortLimits limits_of(const OpenDevice& device);

/// Why `point` cannot be measured, in one sentence; nothing if it can. `peer` may be null.
[[nodiscard]] std::optional<std::string> refuse(const Point& point, const PortLimits& limits, const Environment* peer);

}  // namespace mtuscope::verbs
