#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "mtuscope/core/outcome.hpp"
#include "mtuscope/core/path_mtu.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/records/result_set.hpp"

namespace mtuscope::analysis {

/// Which number of a summary a curve is made of.
enum class Metric : std::uint8_t {
  bandwidth,  ///< bandwidth_bytes_per_s, higher is better
  latency     ///< latency_ns, lower is better
};

/// How far a value's interval can be trusted to tell it from another value.
enum class Spread : std::uint8_t {
  interval,  ///< it has one
  exact,     ///< a deterministic back end: zero by construction
  stated,    ///< posted or imported: a single value, no spread stated
  unknown    ///< measured, but with too few trials for an interval
};

/// One point of a curve.
struct CurvePoint {
  std::uint64_t message_size_bytes = 0;
  std::uint64_t wire_size_bytes = 0;
  Estimate estimate;
  Spread spread = Spread::unknown;
  std::uint32_t trial_count = 0;
};

/// One path MTU's values, ascending in size.
using Curve = std::vector<CurvePoint>;

/// Everything in a record that differs in path MTU and message size only.
struct Series {
  Point common;  ///< path MTU empty and message size 0: what all its points share
  std::map<PathMtu, Curve> curves;
};

/// The spread a summary's estimate has, given where the record's numbers come from.
[[nodiscard]] Spread spread_of(const Summary& summary, const Estimate& estimate, Source source) noexcept;

/// The wider half of an estimate's interval, relative to its value; nothing without an interval or for a value of 0.
[[nodiscard]] std::optional<double> relative_half_width(const Estimate& estimate) noexcept;

/// The record's measured points as curves, in order of first appearance. Points without the metric, without a path
/// MTU, or with a value that is not finite and positive are left out.
[[nodiscard]] std::vector<Series> series_of(const records::ResultSet& record, Metric metric);

/// The point of `curve` with this wire size, or null.
[[nodiscard]] const CurvePoint* find_wire_size(const Curve& curve, std::uint64_t wire_size_bytes) noexcept;

/// The range in which numerator / denominator lies.
struct Ratio {
  double value = 1;
  double low = 1;
  double high = 1;
};

/// The ratio of two values; its range spans the extremes of both intervals (never narrower than the 95 % interval of
/// the ratio). Exact and stated values have no width. Nothing if either spread is unknown.
[[nodiscard]] std::optional<Ratio> ratio_of(const CurvePoint& numerator, const CurvePoint& denominator) noexcept;

/// Index of the estimate that is better than every other one with its interval clear of theirs, or nothing. Missing
/// estimates, and such without an interval (unless exact), never win and never lose.
[[nodiscard]] std::optional<std::size_t> clear_winner(const std::vector<std::optional<CurvePoint>>& candidates,
                                                      Metric metric) noexcept;

}  // namespace mtuscope::analysis
