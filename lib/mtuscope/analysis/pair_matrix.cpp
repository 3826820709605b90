#include "mtuscope/analysis/pair_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "mtuscope/stats/summary.hpp"

namespace mtuscope::analysis {
namespace {

constexpr std::size_t kFewPairs = 5;
constexpr std::size_t kMinHosts = 4;
constexpr std::size_t kMinPairsOfHost = 3;
constexpr double kDeviations = 3;
constexpr double kScaledDeviation = 1.4826;  // of a normal distribution, in its standard deviations
constexpr double kMinEffect = 0.05;
constexpr double kMostPairs = 0.9;

std::optional<Estimate> estimate_of(const Measured& measured, Metric metric) {
  const auto& summary = measured.summary;
  const auto& estimate = metric == Metric::latency ? summary.latency_ns : summary.bandwidth_bytes_per_s;
  if (!estimate || !std::isfinite(estimate->value) || estimate->value <= 0) return std::nullopt;
  return estimate;
}

bool is_worse(Metric metric, double value, double other) noexcept {
  return metric == Metric::latency ? value > other : value < other;
}

void add_to(PairGroup& group, const Pair& pair) {
  if (group.count++ < kFewPairs) group.first.push_back(pair);
}

/// The pairs' values by the number of the host that takes part, at either end.
std::vector<std::vector<double>> values_of_hosts(const PairMatrix& matrix) {
  std::vector<std::vector<double>> values(matrix.names.size());
  for (const auto& pair : matrix.values) {
    values[pair.initiator].push_back(pair.value);
    values[pair.responder].push_back(pair.value);
  }
  return values;
}

void find_slow_hosts(PairMatrix& matrix) {
  const auto values_of = values_of_hosts(matrix);
  std::vector<SlowHost> hosts;
  for (std::uint32_t name = 0; name < values_of.size(); ++name) {
    const auto& pairs = values_of[name];
    if (pairs.size() >= kMinPairsOfHost) hosts.push_back({name, stats::median(pairs), pairs.size(), 0});
  }
  matrix.hosts_decided = hosts.size() >= kMinHosts;
  if (!matrix.hosts_decided) return;
  std::vector<double> values(hosts.size());
  std::transform(hosts.begin(), hosts.end(), values.begin(), [](const SlowHost& host) { return host.value; });
  matrix.host_median = stats::median(values);
  auto deviations = values;
  for (auto& value : deviations) value = std::abs(value - matrix.host_median);
  const auto room =
      std::max(kDeviations * kScaledDeviation * stats::median(deviations), kMinEffect * matrix.host_median);
  // No bandwidth is beyond a limit of 0: then the hosts differ too much for any to stand out.
  matrix.host_limit = std::max(0.0, matrix.host_median + (matrix.metric == Metric::latency ? room : -room));
  for (auto& host : hosts) {
    const auto& pairs = values_of[host.name];
    host.worse_count = static_cast<std::size_t>(std::count_if(
        pairs.begin(), pairs.end(), [&](double value) { return is_worse(matrix.metric, value, matrix.host_median); }));
  }
  std::erase_if(hosts, [&](const SlowHost& host) {
    return !is_worse(matrix.metric, host.value, matrix.host_limit) ||
           static_cast<double>(host.worse_count) < kMostPairs * static_cast<double>(host.pair_count);
  });
  std::sort(hosts.begin(), hosts.end(), [&](const SlowHost& a, const SlowHost& b) {
    if (a.value != b.value) return is_worse(matrix.metric, a.value, b.value);
    return matrix.names[a.name] < matrix.names[b.name];
  });
  matrix.slow_hosts = std::move(hosts);
}

void summarise_spread(PairMatrix& matrix) {
  std::vector<double> half_widths;
  half_widths.reserve(matrix.values.size());
  for (const auto& pair : matrix.values) {
    if (pair.half_width) half_widths.push_back(*pair.half_width);
  }
  matrix.without_interval_count = matrix.values.size() - half_widths.size();
  if (half_widths.empty()) return;
  matrix.median_half_width = stats::median(half_widths);
  matrix.widest_half_width = *std::max_element(half_widths.begin(), half_widths.end());
}

/// False: the number is one of another path MTU than this matrix has.
bool take_proof(PairMatrix& matrix, const MtuProof& proof, const Pair& pair) {
  if (proof.verdict == ProofVerdict::proved) ++matrix.proved_count;
  if (proof.verdict == ProofVerdict::not_provable) add_to(matrix.unproved[proof.reason], pair);
  if (proof.verdict == ProofVerdict::contradicted) add_to(matrix.contradicted, pair);
  return proof.verdict != ProofVerdict::contradicted;
}

void summarise(PairMatrix& matrix) {
  if (matrix.values.empty()) return;
  summarise_spread(matrix);
  std::vector<double> values(matrix.values.size());
  std::transform(matrix.values.begin(), matrix.values.end(), values.begin(),
                 [](const auto& pair) { return pair.value; });
  matrix.median = stats::median(values);
  const auto worse = [&](const PairValue& a, const PairValue& b) {
    if (a.value != b.value) return is_worse(matrix.metric, a.value, b.value);
    return std::tie(matrix.names[a.initiator], matrix.names[a.responder]) <
           std::tie(matrix.names[b.initiator], matrix.names[b.responder]);
  };
  matrix.worst.resize(std::min(kFewPairs, matrix.values.size()));
  std::partial_sort_copy(matrix.values.begin(), matrix.values.end(), matrix.worst.begin(), matrix.worst.end(), worse);
  std::erase_if(matrix.worst, [&](const auto& pair) { return !is_worse(matrix.metric, pair.value, matrix.median); });
  matrix.best = *std::max_element(matrix.values.begin(), matrix.values.end(), worse);
  find_slow_hosts(matrix);
}

}  // namespace

PairMatrices::Gathered& PairMatrices::find(const Point& point) {
  auto common = point;
  common.pair.reset();
  for (auto& gathered : gathered_) {
    if (gathered.matrix.common == common) return gathered;
  }
  auto& gathered = gathered_.emplace_back();
  gathered.matrix.common = std::move(common);
  if (point.pattern == Pattern::ping_pong) gathered.matrix.metric = Metric::latency;
  return gathered;
}

void PairMatrices::add(const records::ResultSet& record, const records::PointResult& point) {
  if (!point.point.pair) return;
  auto& gathered = find(point.point);
  auto& matrix = gathered.matrix;
  if (const auto* skipped = std::get_if<Skipped>(&point.outcome))
    add_to(matrix.skipped[skipped->reason], *point.point.pair);
  if (const auto* failed = std::get_if<Failed>(&point.outcome))
    add_to(matrix.failed[failed->reason], *point.point.pair);
  const auto* measured = std::get_if<Measured>(&point.outcome);
  if (measured == nullptr) return;
  const bool has_session = measured->session && *measured->session < record.sessions.size();
  if (has_session && !take_proof(matrix, record.sessions[*measured->session].proof, *point.point.pair)) return;
  const auto estimate = estimate_of(*measured, matrix.metric);
  if (!estimate) return;
  const auto number = [&](const std::string& name) {
    const auto [found, is_new] = gathered.numbers.try_emplace(name, static_cast<std::uint32_t>(matrix.names.size()));
    if (is_new) matrix.names.push_back(name);
    return found->second;
  };
  const auto initiator = number(point.point.pair->initiator);
  const auto responder = number(point.point.pair->responder);
  matrix.values.push_back({initiator, responder, estimate->value, relative_half_width(*estimate)});
}

std::vector<PairMatrix> PairMatrices::finish() const {
  std::vector<PairMatrix> matrices;
  for (const auto& gathered : gathered_) summarise(matrices.emplace_back(gathered.matrix));
  return matrices;
}

}  // namespace mtuscope::analysis
