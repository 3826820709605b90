#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mtuscope/core/latency_histogram.hpp"

namespace mtuscope {

/// Where a number comes from; a model's number never appears without this word.
enum class Source : std::uint8_t { measured, model, posted, imported };

/// One timed repetition, raw.
struct Trial {
  std::uint32_t arrangement = 0;  ///< which fresh set-up it ran in, from 0
  std::uint32_t round = 0;        ///< which round of the run, from 0; unique per point
  std::uint64_t order = 0;        ///< position in the run, from 0
  std::uint64_t messages =
      0;  ///< counted in `elapsed_ns` (both directions for bidirectional, round trips for ping-pong)
  std::uint64_t elapsed_ns = 0;
  std::optional<std::uint64_t> sent_messages;       ///< UD, UC: handed to the device by the senders
  std::optional<std::uint64_t> received_messages;   ///< UD, UC: seen by the receivers
  std::optional<double> min_slice_bytes_per_s;      ///< slowest time slice of the trial
  std::shared_ptr<const LatencyHistogram> latency;  ///< ping-pong only
  std::optional<std::uint64_t> sender_elapsed_ns;   ///< UD, UC: the sender's own span, first post to last completion
};

/// A central value with its interval; the interval is absent when there were too few trials, or none (posted).
struct Estimate {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
};

/// Latency in the field's meaning: half a round trip for send and write, the round trip for read [ns].
/// A percentile is absent when the samples do not support it.
struct LatencySummary {
  std::optional<double> p50_ns;
  std::optional<double> p90_ns;
  std::optional<double> p99_ns;
  std::optional<double> p99_9_ns;
  std::optional<double> min_ns;
  std::optional<double> max_ns;  ///< the true maximum
  std::uint64_t sample_count = 0;
};

/// Everything derived from the trials; can be recomputed from them. Absent = not measured or not stated.
struct Summary {
  std::uint32_t trial_count = 0;  ///< 0 for posted and imported values
  std::uint32_t arrangement_count = 0;
  std::optional<Estimate> bandwidth_bytes_per_s;
  std::optional<Estimate> message_rate_per_s;
  std::optional<Estimate> latency_ns;  ///< median over trials of the trial's mean
  std::optional<LatencySummary> latency;
  std::optional<double> min_slice_bytes_per_s;
  std::optional<double> within_variation;   ///< coefficient of variation between trials of one arrangement
  std::optional<double> between_variation;  ///< coefficient of variation between arrangements
  std::optional<double> loss_fraction;      ///< UD, UC
  bool exact = false;                       ///< a deterministic back end: zero variance by construction, no interval
};

/// A point that was measured (or modelled, posted, imported: the record's source says which).
struct Measured {
  Summary summary;
  std::vector<Trial> trials;
  /// Merged over the trials, when this was read back from a record: there the trials have none of their own.
  std::shared_ptr<const LatencyHistogram> latency{};
  std::uint64_t warmup_messages = 0;     ///< discarded before the first trial
  std::optional<std::uint32_t> session;  ///< index of the record's session it ran in
  std::string note;                      ///< "stopped by --max-time at 3 trials", what a posted row does not state, ...
};
/// A point that was not tried, and why.
struct Skipped {
  std::string reason;
};
/// A point that was tried and failed, and why; trials finished before are kept.
struct Failed {
  std::string reason;
  std::vector<Trial> trials;
};

using Outcome = std::variant<Measured, Skipped, Failed>;

[[nodiscard]] constexpr const char* to_string(Source source) noexcept {
  switch (source) {
    case Source::measured:
      return "measured";
    case Source::model:
      return "model";
    case Source::posted:
      return "posted";
    case Source::imported:
      return "imported";
  }
  return "?";
}

}  // namespace mtuscope
