#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/session.hpp"
#include "mtuscope/verbs/device/device.hpp"

namespace mtuscope::verbs {

/// What a port and its device allow. A limit of 0 is unknown and refuses nothing.
struct PortLimits {
  std::string name;  ///< "rxe0 port 1"
  std::optional<PathMtu> active_mtu;
  std::uint64_t max_message_size_bytes = 0;
  std::uint64_t max_work_requests = 0;  ///< per queue
  std::uint64_t max_queue_pairs = 0;
  std::uint64_t max_completions = 0;   ///< per completion queue
  std::uint64_t max_region_bytes = 0;  ///< of one registered region
};

[[nodiscard]] PortLimits limits_of(const OpenDevice& device);

/// Why `point` cannot be measured, in one sentence; nothing if it can. `peer` may be null.
[[nodiscard]] std::optional<std::string> refuse(const Point& point, const PortLimits& limits, const Environment* peer);

/// Why this device cannot hold `sessions` all at once, in one sentence; nothing if it can. Asked at both ends before
/// anything is created: the points were held against the initiator's device only, and queue pairs add up.
[[nodiscard]] std::optional<std::string> refuse_sessions(std::span<const SessionSpec> sessions,
                                                         const PortLimits& limits);

}  // namespace mtuscope::verbs
