#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mtuscope/transport/session.hpp"
#include "mtuscope/transport/stream_kernel.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "mtuscope/verbs/channel.hpp"

namespace mtuscope::verbs {

/// The kernels' working room, allocated once per session and sized before each trial.
struct KernelRoom {
  std::vector<QpProgress> qps;
  std::vector<std::uint64_t> slice_ends_ns;
};

/// Which part of a trial an end plays, and with what.
struct KernelRun {
  VerbsChannel& channel;
  const SessionSpec& spec;
  Role role = Role::initiator;
  KernelRoom& room;
};

/// Whether this end takes no part in the timed section.
[[nodiscard]] bool is_passive(const Point& point, Role role) noexcept;
/// Whether messages carry sequence numbers and the receiver gives credits.
[[nodiscard]] bool uses_credits(const Point& point, const SessionSpec& spec) noexcept;
/// Sizes the room; called before the clock starts.
void size_room(KernelRoom& room, const TrialRequest& request, const SessionSpec& spec);
/// Picks the kernel of (pattern, operation, role, wait mode) and runs it. The reading's reason is left empty.
[[nodiscard]] EndReading run_kernel(const KernelRun& run, const TrialRequest& request, Watch& watch);

}  // namespace mtuscope::verbs
