#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mtuscope/core/point.hpp"
#include "mtuscope/sweep/spec.hpp"

namespace mtuscope::sweep {

/// Whether two points are of one series: the passes of a directional sweep that follow each other at one path MTU, in
/// which nothing is opened, warmed up or flushed. False for points without a pass.
[[nodiscard]] bool same_series(const Point& a, const Point& b);

/// Every point of the spec, in record order: connection, operation, pattern, working set, message size, path MTU
/// (innermost). In a directional sweep: ..., working set, path MTU, pass, message size in the direction of the pass.
[[nodiscard]] std::vector<Point> plan_points(const SweepSpec& spec);

/// The order in which round `round` visits the points: groups that differ in path MTU only (and, in a directional
/// sweep, in pass and size, which stay in their order) stay together, groups are shuffled, and within a group the MTUs
/// run forwards in even rounds and backwards in odd ones (A B B A). Depends on (seed, round) alone, so a resumed run
/// repeats it exactly.
[[nodiscard]] std::vector<std::size_t> round_order(const std::vector<Point>& points, std::uint64_t seed,
                                                   std::uint32_t round);

}  // namespace mtuscope::sweep
