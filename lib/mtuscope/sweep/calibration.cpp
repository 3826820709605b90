#include "mtuscope/sweep/calibration.hpp"

#include <algorithm>
#include <cmath>

#include "mtuscope/transport/slices.hpp"

namespace mtuscope::sweep {
namespace {

constexpr int kMostRepetitions = 12;
constexpr double kSettledWithin = 0.05;
/// A trial that would take longer than this many trial times only to fill the pipe stays shorter (slow links, large
/// messages).
constexpr std::uint64_t kLongestFill = 10;
constexpr double kMostGrowth = 32;

double rate_of(const TrialReading& reading) {
  return static_cast<double>(reading.messages) / static_cast<double>(std::max<std::uint64_t>(1, reading.elapsed_ns));
}

/// Messages that should last a bit longer than the trial time at this rate.
std::uint64_t next_length(std::uint64_t messages, const TrialReading& reading, const WarmUpRule& rule) {
  constexpr double kMargin = 1.2;
  const double wanted = kMargin * static_cast<double>(rule.trial_time_ns);
  const double growth = wanted / static_cast<double>(std::max<std::uint64_t>(1, reading.elapsed_ns));
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(messages) * std::clamp(growth, 1.0, kMostGrowth)));
}

std::uint64_t slice_length(std::uint64_t messages, const TrialReading& reading, const WarmUpRule& rule) {
  constexpr std::uint64_t kCompletionsPerSlice = 10;  // a slice ends at a completion: cq-mod messages more or less
  if (rule.slice_time_ns == 0 || reading.elapsed_ns == 0) return 0;
  const double per_slice = rate_of(reading) * static_cast<double>(rule.slice_time_ns);
  // The first slice holds the filling of the pipe and is left out, see slowest_slice.
  const auto slice = std::max({static_cast<std::uint64_t>(per_slice), rule.fewest_messages,
                               kCompletionsPerSlice * rule.cq_mod, messages / (kMaxSlices - 1) + 1});
  return slice * 3 > messages ? 0 : slice;
}

}  // namespace

WarmUp warm_up(const WarmUpRule& rule, const WarmUpRun& run) {
  WarmUp result;
  // Start small: on a slow device even one full pipe may take seconds.
  std::uint64_t messages = rule.fixed_messages.value_or(std::clamp<std::uint64_t>(rule.fewest_messages, 1, 8));
  double previous_rate = 0;
  for (int repetition = 0; repetition < kMostRepetitions; ++repetition) {
    result.last = run(messages, repetition == 0);
    if (result.last.status != TrialStatus::ok) return result;
    result.discarded_messages += messages;
    const double rate = rate_of(result.last);
    const bool settled = previous_rate > 0 && std::abs(rate / previous_rate - 1) <= kSettledWithin;
    const bool long_enough =
        rule.fixed_messages ||
        (result.last.elapsed_ns >= rule.trial_time_ns &&
         (messages >= rule.fewest_messages || result.last.elapsed_ns >= kLongestFill * rule.trial_time_ns));
    if (settled && long_enough) break;
    previous_rate = rate;
    if (long_enough) continue;
    const auto longer = next_length(messages, result.last, rule);
    messages = longer > messages ? longer : std::min(rule.fewest_messages, messages * 2);
  }
  result.length = {messages, slice_length(messages, result.last, rule)};
  return result;
}

}  // namespace mtuscope::sweep
