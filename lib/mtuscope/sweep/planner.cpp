#include "mtuscope/sweep/planner.hpp"

#include <algorithm>

#include "mtuscope/core/random.hpp"

namespace mtuscope::sweep {
namespace {

/// Same point but for the path MTU.
bool same_group(Point a, const Point& b) {
  a.path_mtu = b.path_mtu;
  a.segmented = b.segmented;
  return a == b;
}

/// The points of one connection, operation and pattern.
void add_axes(Point point, const SweepSpec& spec, std::vector<Point>& points) {
  std::vector<std::optional<PathMtu>> mtus{spec.path_mtus.begin(), spec.path_mtus.end()};
  if (mtus.empty()) mtus.emplace_back();  // not stated
  for (const auto size : spec.message_sizes_bytes) {
    for (const auto mtu : mtus) {
      point.message_size_bytes = size;
      point.path_mtu = mtu;
      point.segmented = point.connection == Connection::ud && spec.segment && size > to_bytes(*mtu);
      points.push_back(point);
    }
  }
}

}  // namespace

std::vector<Point> plan_points(const SweepSpec& spec) {
  std::vector<Point> points;
  Point point;
  state_options(point, spec);
  for (const auto connection : spec.connections) {
    point.connection = connection;
    point.header_bytes = connection == Connection::mpi ? spec.header_bytes : 0;
    for (const auto operation : spec.operations) {
      point.operation = operation;
      for (const auto pattern : spec.patterns) {
        point.pattern = pattern;
        add_axes(point, spec, points);
      }
    }
  }
  return points;
}

std::vector<std::size_t> round_order(const std::vector<Point>& points, std::uint64_t seed, std::uint32_t round) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (groups.empty() || !same_group(points[groups.back().front()], points[i])) groups.emplace_back();
    groups.back().push_back(i);
  }
  SplitMix64 random{seed, round};
  shuffle(groups, random);
  std::vector<std::size_t> order;
  order.reserve(points.size());
  for (auto& group : groups) {
    if (round % 2 == 1) std::reverse(group.begin(), group.end());
    order.insert(order.end(), group.begin(), group.end());
  }
  return order;
}

}  // namespace mtuscope::sweep
