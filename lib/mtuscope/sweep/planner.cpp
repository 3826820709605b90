#include "mtuscope/sweep/planner.hpp"

#include <algorithm>

#include "mtuscope/core/random.hpp"

namespace mtuscope::sweep {
namespace {

/// Same point but for what varies inside a group: the path MTU, and in a directional sweep size and pass.
bool same_group(Point a, const Point& b) {
  a.path_mtu = b.path_mtu;
  a.segmented = b.segmented;
  return a == b || same_series(a, b);
}

using PathMtus = std::vector<std::optional<PathMtu>>;

/// One point for each size and path MTU; sizes outside, so that trials of the path MTUs follow each other.
void add_sizes(Point point, const SweepSpec& spec, const PathMtus& mtus, std::vector<Point>& points) {
  for (const auto size : spec.message_sizes_bytes) {
    for (const auto mtu : mtus) {
      point.message_size_bytes = size;
      point.path_mtu = mtu;
      point.segmented = point.connection == Connection::ud && spec.segment && size > to_bytes(*mtu);
      points.push_back(point);
    }
  }
}

/// The passes of each path MTU, one size after another in the direction of the pass.
void add_passes(Point point, const SweepSpec& spec, const PathMtus& mtus, std::vector<Point>& points) {
  for (const auto mtu : mtus) {
    point.path_mtu = mtu;
    for (const auto pass : spec.passes) {
      point.pass = pass;
      auto sizes = spec.message_sizes_bytes;
      if (pass == Pass::down) std::reverse(sizes.begin(), sizes.end());
      for (const auto size : sizes) {
        point.message_size_bytes = size;
        point.segmented = point.connection == Connection::ud && spec.segment && size > to_bytes(*mtu);
        points.push_back(point);
      }
    }
  }
}

/// The points of one connection, operation and pattern.
void add_axes(Point point, const SweepSpec& spec, std::vector<Point>& points) {
  PathMtus mtus{spec.path_mtus.begin(), spec.path_mtus.end()};
  if (mtus.empty()) mtus.emplace_back();  // not stated
  std::vector<std::optional<WorkingSet>> sets{spec.working_sets.begin(), spec.working_sets.end()};
  if (sets.empty()) sets.emplace_back();  // one buffer
  for (const auto& set : sets) {
    point.working_set = set;
    spec.passes.empty() ? add_sizes(point, spec, mtus, points) : add_passes(point, spec, mtus, points);
  }
}

/// The path MTUs of a group in the opposite order; what follows each other at one path MTU stays in its order.
void reverse_mtus(const std::vector<Point>& points, std::vector<std::size_t>& group) {
  std::reverse(group.begin(), group.end());
  const auto mtu = [&points](std::size_t i) { return points[i].path_mtu; };
  for (auto begin = group.begin(); begin != group.end();) {
    const auto end = std::find_if(begin, group.end(), [&](std::size_t i) { return mtu(i) != mtu(*begin); });
    std::reverse(begin, end);
    begin = end;
  }
}

}  // namespace

bool same_series(const Point& a, const Point& b) {
  if (a.pass == Pass::none || b.pass == Pass::none) return false;
  auto moved = a;
  moved.pass = b.pass;
  moved.message_size_bytes = b.message_size_bytes;
  moved.segmented = b.segmented;
  return moved == b;
}

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
    if (round % 2 == 1) reverse_mtus(points, group);
    order.insert(order.end(), group.begin(), group.end());
  }
  return order;
}

}  // namespace mtuscope::sweep
