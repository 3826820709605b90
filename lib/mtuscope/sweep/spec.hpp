#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/session.hpp"

namespace mtuscope::sweep {

/// The longest trial that a plan may ask for.
inline constexpr std::uint64_t kMaxTrialTimeNs = 600'000'000'000U;
inline constexpr std::uint64_t kMaxTrialMessages = std::uint64_t{1} << 40U;

/// Messages per size of a directional sweep, when --messages is not given: those of the modelled block study.
inline constexpr std::uint64_t kPassMessages = 16'000;

/// When a point has been measured enough; declared before the run and written into the record.
struct StopRule {
  double relative_interval = 0.01;  ///< stop once the median's interval is at most this wide, relative to the median
  std::uint32_t min_trials = 8;     ///< below 8 a side a rank test under Holm over 40-60 sizes cannot be significant
  std::uint32_t arrangements = 3;   ///< fresh set-ups the trials are spread over
  std::uint32_t max_trials = 32;
  std::uint64_t max_time_ns = 0;  ///< for the whole run; 0: none
};

/// What is to be measured. The initiator's options become this; the responder is told session by session and trial by
/// trial.
struct SweepSpec : SessionOptions {
  std::vector<Connection> connections{Connection::rc};
  std::vector<Operation> operations{Operation::send};
  std::vector<Pattern> patterns{Pattern::stream};
  std::vector<PathMtu> path_mtus;                  ///< empty: not stated, which MPI alone may leave
  std::vector<std::uint64_t> message_sizes_bytes;  ///< ascending, no duplicates
  /// What points cycle through; all of the same pages, aliases, MR mode and side. Empty: one buffer.
  std::vector<WorkingSet> working_sets;
  /// A directional sweep: its passes in their order, each through all sizes without new sessions. Empty: random order.
  std::vector<Pass> passes;
  std::uint32_t header_bytes = 0;
  bool segment = false;                      ///< UD: cut messages above the datagram limit into datagrams
  bool verify_payload = true;                ///< once per point and arrangement, outside the timed part
  std::optional<std::uint64_t> messages;     ///< fixed messages per trial; empty: calibrated
  std::uint64_t trial_time_ns = 20'000'000;  ///< calibrated trials last at least this long
  std::uint64_t slice_time_ns = 4'000'000;   ///< time slices for the minimum bandwidth
  std::uint64_t seed = 1;
  StopRule stop;
};

/// Parses `1:1M`, `1K:32K:+1K`, `512,1024,1500`, and unions of these with commas; suffixes K, M, G are 2^10, 2^20,
/// 2^30. Ascending without duplicates. Throws ConfigError naming the bad part: size 0, above 2^31 bytes (a work
/// request's length), an empty or reversed range, more than 100,000 sizes.
[[nodiscard]] std::vector<std::uint64_t> parse_sizes(std::string_view text);
/// Parses `1K,2K` or `1024,2048`. Throws ConfigError for what is no path MTU, naming the five that are.
[[nodiscard]] std::vector<PathMtu> parse_path_mtus(std::string_view text);
/// Parses one byte count with suffix. Throws ConfigError.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);

/// Powers of two from 1 B to 1 MiB, and k x MTU - 1, k x MTU, k x MTU + 1 (k = 1..4) of every MTU under test.
[[nodiscard]] std::vector<std::uint64_t> default_sizes(const std::vector<PathMtu>& path_mtus);

/// Throws ConfigError for working sets that cannot be: no or too many blocks, blocks smaller than a message, a pattern
/// or queue setting under which an order of reuse has no meaning. Called by check.
void check_working_sets(const SweepSpec& spec);

/// Throws ConfigError when options contradict each other (cq-mod above tx-depth, post-list above tx-depth, ...).
void check(const SweepSpec& spec);

/// 64-bit FNV-1a over everything above that changes what is measured; a run is resumed under the same hash only. Limits
/// that only say when to stop (max_trials, relative_interval, max_time, timeout) are not in it.
[[nodiscard]] std::uint64_t plan_hash(const SweepSpec& spec);

}  // namespace mtuscope::sweep
