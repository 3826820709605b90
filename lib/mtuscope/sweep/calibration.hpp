#pragma once
#include <cstdint>
#include <functional>

#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/session.hpp"

namespace mtuscope::sweep {

/// How long a trial of one point is.
struct TrialLength {
  std::uint64_t messages = 0;
  std::uint64_t slice_messages = 0;
};

/// What warming a point up gave.
struct WarmUp {
  TrialLength length;
  std::uint64_t discarded_messages = 0;
  TrialReading last;  ///< its status says whether the warm-up failed
};

/// Runs one repetition of so many messages; the first one verifies the payload.
using WarmUpRun = std::function<TrialReading(std::uint64_t messages, bool first)>;

/// Settings a point's warm-up needs.
struct WarmUpRule {
  std::uint64_t trial_time_ns = 0;  ///< at least this long, and long against the clock
  std::uint64_t slice_time_ns = 0;
  std::uint64_t fewest_messages = 1;  ///< enough to fill the pipe
  std::uint32_t cq_mod = 1;
  std::optional<std::uint64_t> fixed_messages;  ///< --messages
};

/// Warms a point up by criterion and finds its trial length: repetitions of growing length until one lasts the trial
/// time and its rate is within 5 % of the one before, or 12 repetitions were run. All of them are discarded.
[[nodiscard]] WarmUp warm_up(const WarmUpRule& rule, const WarmUpRun& run);

}  // namespace mtuscope::sweep
