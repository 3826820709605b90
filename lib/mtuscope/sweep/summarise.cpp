#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "mtuscope/stats/percentile.hpp"
#include "mtuscope/stats/summary.hpp"
#include "mtuscope/stats/variance_components.hpp"
#include "mtuscope/sweep/runner.hpp"

namespace mtuscope::sweep {
namespace {

Estimate estimate(const std::vector<double>& values, bool deterministic) {
  Estimate result{.value = stats::median(values), .low = {}, .high = {}};
  if (deterministic) return result;
  if (const auto interval = stats::median_interval(values)) {
    result.low = interval->low;
    result.high = interval->high;
  }
  return result;
}

/// Coefficients of variation within and between arrangements, from one-way variance components.
void add_variation(Summary& summary, const std::vector<Trial>& trials, const std::vector<double>& values) {
  std::map<std::uint32_t, std::vector<double>> groups;
  for (std::size_t i = 0; i < trials.size(); ++i) groups[trials[i].arrangement].push_back(values[i]);
  summary.arrangement_count = static_cast<std::uint32_t>(groups.size());
  std::vector<std::vector<double>> arrangements;
  arrangements.reserve(groups.size());
  for (auto& [arrangement, group] : groups) arrangements.push_back(std::move(group));
  const auto components = stats::variance_components(arrangements);
  const double centre = stats::mean(values);
  if (!components || centre == 0) return;
  summary.within_variation = std::sqrt(components->within) / centre;
  summary.between_variation = std::sqrt(components->between) / centre;
}

LatencySummary latency_of(const std::vector<Trial>& trials) {
  auto merged = std::make_unique<LatencyHistogram>();
  for (const auto& trial : trials) {
    if (trial.latency) merged->merge(*trial.latency);
  }
  LatencySummary latency;
  latency.sample_count = merged->count();
  if (latency.sample_count == 0) return latency;
  const auto percentile = [&](double quantile) -> std::optional<double> {
    if (!stats::percentile_supported(latency.sample_count, quantile)) return std::nullopt;
    return merged->percentile_ns(quantile);
  };
  latency.p50_ns = percentile(0.5);
  latency.p90_ns = percentile(0.9);
  latency.p99_ns = percentile(0.99);
  latency.p99_9_ns = percentile(0.999);
  latency.min_ns = static_cast<double>(merged->min_ns());
  latency.max_ns = static_cast<double>(merged->max_ns());
  return latency;
}

void add_loss(Summary& summary, const std::vector<Trial>& trials) {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const auto& trial : trials) {
    if (!trial.sent_messages || !trial.received_messages) return;
    sent += *trial.sent_messages;
    received += *trial.received_messages;
  }
  if (sent > 0) summary.loss_fraction = 1.0 - static_cast<double>(received) / static_cast<double>(sent);
}

void add_slowest_slice(Summary& summary, const std::vector<Trial>& trials) {
  for (const auto& trial : trials) {
    if (!trial.min_slice_bytes_per_s) continue;
    summary.min_slice_bytes_per_s =
        std::min(summary.min_slice_bytes_per_s.value_or(*trial.min_slice_bytes_per_s), *trial.min_slice_bytes_per_s);
  }
}

}  // namespace

Summary summarise(const Point& point, const std::vector<Trial>& trials, bool deterministic) {
  Summary summary;
  summary.trial_count = static_cast<std::uint32_t>(trials.size());
  summary.exact = deterministic;
  if (trials.empty()) return summary;
  std::vector<double> rates;
  std::vector<double> bandwidths;
  std::vector<double> latencies;
  const double ways = point.operation == Operation::read ? 1 : 2;
  for (const auto& trial : trials) {
    const double rate = static_cast<double>(trial.messages) * 1e9 / static_cast<double>(trial.elapsed_ns);
    rates.push_back(rate);
    bandwidths.push_back(rate * static_cast<double>(point.message_size_bytes));
    latencies.push_back(1e9 / rate / ways);
  }
  if (point.pattern == Pattern::ping_pong) {
    summary.latency_ns = estimate(latencies, deterministic);
    summary.latency = latency_of(trials);
    add_variation(summary, trials, latencies);
  } else {
    summary.message_rate_per_s = estimate(rates, deterministic);
    summary.bandwidth_bytes_per_s = estimate(bandwidths, deterministic);
    add_variation(summary, trials, bandwidths);
    add_slowest_slice(summary, trials);
  }
  add_loss(summary, trials);
  return summary;
}

}  // namespace mtuscope::sweep
