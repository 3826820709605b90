#include "mtuscope/analysis/series.hpp"

#include <algorithm>
#include <cmath>

namespace mtuscope::analysis {
namespace {

Point without_axes(const Point& point) {
  Point common = point;
  common.path_mtu.reset();
  common.message_size_bytes = 0;
  common.segmented = false;  // follows from size and path MTU
  return common;
}

Series& find_or_add(std::vector<Series>& all, const Point& common) {
  // The last series is the most likely one: points of a record come series by series.
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const Series& s) { return s.common == common; });
  if (found != all.rend()) return *found;
  return all.emplace_back(Series{common, {}});
}

const std::optional<Estimate>& estimate_of(const Summary& summary, Metric metric) noexcept {
  return metric == Metric::bandwidth ? summary.bandwidth_bytes_per_s : summary.latency_ns;
}

Estimate bounds_of(const CurvePoint& point) noexcept {
  const auto& e = point.estimate;
  if (point.spread != Spread::interval) return {e.value, e.value, e.value};
  return e;
}

}  // namespace

Spread spread_of(const Summary& summary, const Estimate& estimate, Source source) noexcept {
  if (summary.exact) return Spread::exact;
  if (estimate.low && estimate.high) return Spread::interval;
  return source == Source::posted || source == Source::imported ? Spread::stated : Spread::unknown;
}

std::optional<double> relative_half_width(const Estimate& estimate) noexcept {
  if (!estimate.low || !estimate.high || estimate.value == 0) return std::nullopt;
  return std::max(*estimate.high - estimate.value, estimate.value - *estimate.low) / estimate.value;
}

std::vector<Series> series_of(const records::ResultSet& record, Metric metric) {
  std::vector<Series> all;
  for (const auto& [point, outcome] : record.points) {
    const auto* measured = std::get_if<Measured>(&outcome);
    if (measured == nullptr || !point.path_mtu) continue;
    const auto& estimate = estimate_of(measured->summary, metric);
    if (!estimate || !std::isfinite(estimate->value) || estimate->value <= 0) continue;
    auto& series = find_or_add(all, without_axes(point));
    series.curves[*point.path_mtu].push_back({point.message_size_bytes, wire_size_bytes(point), *estimate,
                                              spread_of(measured->summary, *estimate, record.header.source),
                                              measured->summary.trial_count});
  }
  for (auto& series : all) {
    for (auto& [mtu, curve] : series.curves) {
      std::stable_sort(curve.begin(), curve.end(),
                       [](const CurvePoint& a, const CurvePoint& b) { return a.wire_size_bytes < b.wire_size_bytes; });
    }
  }
  return all;
}

const CurvePoint* find_wire_size(const Curve& curve, std::uint64_t wire_size_bytes) noexcept {
  const auto found =
      std::lower_bound(curve.begin(), curve.end(), wire_size_bytes,
                       [](const CurvePoint& point, std::uint64_t size) { return point.wire_size_bytes < size; });
  return found != curve.end() && found->wire_size_bytes == wire_size_bytes ? &*found : nullptr;
}

std::optional<Ratio> ratio_of(const CurvePoint& numerator, const CurvePoint& denominator) noexcept {
  if (numerator.spread == Spread::unknown || denominator.spread == Spread::unknown) return std::nullopt;
  const auto n = bounds_of(numerator);
  const auto d = bounds_of(denominator);
  if (!(*d.low > 0) || !(d.value > 0)) return std::nullopt;
  return Ratio{n.value / d.value, *n.low / *d.high, *n.high / *d.low};
}

std::optional<std::size_t> clear_winner(const std::vector<std::optional<CurvePoint>>& candidates,
                                        Metric metric) noexcept {
  const auto comparable = [](const std::optional<CurvePoint>& c) {
    return c && (c->spread == Spread::interval || c->spread == Spread::exact);
  };
  const auto clear_of = [metric](const CurvePoint& a, const CurvePoint& b) {
    const auto left = bounds_of(a);
    const auto right = bounds_of(b);
    return metric == Metric::bandwidth ? *left.low > *right.high : *left.high < *right.low;
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!comparable(candidates[i])) continue;
    std::size_t beaten = 0;
    std::size_t rivals = 0;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      if (j == i || !comparable(candidates[j])) continue;
      ++rivals;
      if (clear_of(*candidates[i], *candidates[j])) ++beaten;
    }
    if (rivals > 0 && beaten == rivals) return i;
  }
  return std::nullopt;
}

}  // namespace mtuscope::analysis
