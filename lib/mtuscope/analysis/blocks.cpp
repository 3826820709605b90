#include "mtuscope/analysis/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "mtuscope/stats/summary.hpp"

namespace mtuscope::analysis {
namespace {

constexpr std::size_t kMinFloorSizes = 2;
constexpr std::size_t kSeedShare = 4;  // the lowest quarter
constexpr int kFloorRounds = 8;

using Points = std::vector<const BlockPoint*>;

Point curve_of(Point point) {
  point.message_size_bytes = 0;
  point.pass = Pass::none;
  point.segmented = false;
  return point;
}

Point without_working_set(Point point) {
  point.working_set.reset();
  return point;
}

std::vector<BlockCurve> curves_of(const records::ResultSet& record) {
  std::vector<BlockCurve> curves;
  for (const auto& [point, outcome] : record.points) {
    const auto* measured = std::get_if<Measured>(&outcome);
    if (measured == nullptr || !point.working_set) continue;
    const auto& bandwidth = measured->summary.bandwidth_bytes_per_s;
    const auto pages = pages_per_cycle(*point.working_set, point.message_size_bytes);
    if (!bandwidth || !std::isfinite(bandwidth->value) || bandwidth->value <= 0 || pages == 0) continue;
    const auto common = curve_of(point);
    auto found = std::find_if(curves.rbegin(), curves.rend(), [&](const BlockCurve& c) { return c.common == common; });
    auto& curve = found != curves.rend() ? *found : curves.emplace_back();
    curve.common = common;
    const auto bytes = 1e9 * static_cast<double>(point.message_size_bytes);
    BlockPoint added{point.message_size_bytes, pages, bytes / bandwidth->value};
    if (bandwidth->high && *bandwidth->high > 0) added.low_time_ns = bytes / *bandwidth->high;
    added.exact = measured->summary.exact;
    (point.pass == Pass::down ? curve.down : curve.up).push_back(added);
  }
  for (auto& curve : curves) {
    std::ranges::stable_sort(curve.up, {}, &BlockPoint::message_size_bytes);
    std::ranges::stable_sort(curve.down, {}, &BlockPoint::message_size_bytes);
  }
  return curves;
}

std::map<std::uint64_t, std::vector<double>> times_by_size(const Points& points) {
  std::map<std::uint64_t, std::vector<double>> times;
  for (const auto* point : points) times[point->message_size_bytes].push_back(point->time_ns);
  return times;
}

/// Needs at least one point; one size alone gives a floor without slope.
BlockFloor fit(const Points& points) {
  std::vector<std::pair<double, double>> samples;
  for (const auto& [size, times] : times_by_size(points)) {
    samples.emplace_back(static_cast<double>(size), stats::median(times));
  }
  std::vector<double> slopes;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = i + 1; j < samples.size(); ++j) {
      slopes.push_back((samples[j].second - samples[i].second) / (samples[j].first - samples[i].first));
    }
  }
  BlockFloor floor;
  floor.ns_per_byte = slopes.empty() ? 0 : stats::median(slopes);
  std::vector<double> rests;
  rests.reserve(samples.size());
  for (const auto& [size, time] : samples) rests.push_back(time - floor.ns_per_byte * size);
  floor.overhead_ns = stats::median(rests);
  return floor;
}

Points seed_of(Points all, const Points& lifo) {
  if (times_by_size(lifo).size() >= kMinFloorSizes) return lifo;
  // Of equal working sets the fastest first: a drop only adds time.
  std::ranges::sort(all, {}, [](const BlockPoint* point) { return std::pair{point->pages_per_cycle, point->time_ns}; });
  auto count = std::min(all.size(), std::max(kMinFloorSizes, all.size() / kSeedShare));
  const auto total = times_by_size(all).size();
  while (count < all.size()) {
    const Points seed(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    if (times_by_size(seed).size() >= std::min(kMinFloorSizes, total)) break;
    ++count;
  }
  all.resize(count);
  return all;
}

BlockFloor floor_of(const Points& all, const Points& lifo, double drop) {
  auto floor = fit(seed_of(all, lifo));
  for (int round = 0; round < kFloorRounds; ++round) {
    Points near;
    for (const auto* point : all) {
      const auto expected = floor.time_ns(point->message_size_bytes);
      if (std::abs(point->time_ns - expected) <= drop * expected) near.push_back(point);
    }
    if (times_by_size(near).size() < std::min(kMinFloorSizes, times_by_size(all).size())) break;
    floor = fit(near);
  }
  return floor;
}

/// Adds the points of both passes, and those of a control to `lifo`, too.
void collect(const BlockCurve& curve, Points& all, Points& lifo) {
  const bool is_control = curve.common.working_set->order == ReuseOrder::lifo;
  for (const auto* pass : {&curve.up, &curve.down}) {
    for (const auto& point : *pass) {
      all.push_back(&point);
      if (is_control) lifo.push_back(&point);
    }
  }
}

void fit_floors(std::vector<BlockCurve>& curves, double drop) {
  for (auto& curve : curves) {
    if (curve.floor) continue;
    const auto group = without_working_set(curve.common);
    Points all;
    Points lifo;
    for (const auto& other : curves) {
      if (without_working_set(other.common) == group) collect(other, all, lifo);
    }
    const auto floor = floor_of(all, lifo, drop);
    for (auto& other : curves) {
      if (without_working_set(other.common) == group) other.floor = floor;
    }
  }
}

void mark(std::vector<BlockPoint>& points, const BlockFloor& floor, double drop) {
  for (auto& point : points) {
    const auto limit = (1 + drop) * floor.time_ns(point.message_size_bytes);
    const bool clear = point.exact || !point.low_time_ns || *point.low_time_ns > limit;
    point.dropped = point.time_ns > limit && clear;
  }
}

DropEdge edge_at(const std::vector<BlockPoint>& points, std::size_t dropped) {
  return {dropped == 0 ? 0 : points[dropped - 1].message_size_bytes, points[dropped].message_size_bytes};
}

std::optional<DropEdge> up_edge_of(const std::vector<BlockPoint>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].dropped && (i + 1 == points.size() || points[i + 1].dropped)) return edge_at(points, i);
  }
  return std::nullopt;
}

/// A single good size inside the drop does not end it, as a single dropped one does not begin it.
std::optional<DropEdge> down_edge_of(const std::vector<BlockPoint>& points) {
  std::optional<std::size_t> smallest;
  for (std::size_t i = points.size(); i-- > 0;) {
    if (points[i].dropped) {
      smallest = i;
    } else if (smallest && (i == 0 || !points[i - 1].dropped)) {
      break;
    }
  }
  return smallest ? std::optional(edge_at(points, *smallest)) : std::nullopt;
}

std::optional<double> loop_area_of(const BlockCurve& curve) {
  std::optional<double> area;
  std::optional<std::pair<double, double>> before;
  for (const auto& up : curve.up) {
    const auto down = std::ranges::find(curve.down, up.message_size_bytes, &BlockPoint::message_size_bytes);
    if (down == curve.down.end()) continue;
    const auto floor = curve.floor->time_ns(up.message_size_bytes);
    const std::pair now{static_cast<double>(up.message_size_bytes), floor / up.time_ns - floor / down->time_ns};
    if (before) area = area.value_or(0) + (now.first - before->first) * (now.second + before->second) / 2;
    before = now;
  }
  return area;
}

CapacityInterval capacity_of(const BlockCurve& curve) {
  const auto& set = *curve.common.working_set;
  std::uint64_t good = ~std::uint64_t{0};
  std::uint64_t bad = 0;
  const auto take = [&](const std::vector<BlockPoint>& points, const std::optional<DropEdge>& edge) {
    if (points.empty()) return;
    good = std::min(good, edge ? edge->good_size_bytes : points.back().message_size_bytes);
    bad = std::max(bad, edge ? edge->dropped_size_bytes : ~std::uint64_t{0});
  };
  take(curve.up, curve.up_edge);
  take(curve.down, curve.down_edge);
  CapacityInterval interval;
  if (good != 0) interval.low_pages = pages_per_cycle(set, good);
  if (bad != ~std::uint64_t{0}) interval.high_pages = pages_per_cycle(set, bad);
  return interval;
}

void combine(BlockStudy& study) {
  CapacityInterval all;
  bool same_pages = true;
  for (const auto& curve : study.curves) {
    const auto& set = *curve.common.working_set;
    if (set.order != ReuseOrder::fifo) continue;
    same_pages = same_pages && (study.page_size_bytes == 0 || study.page_size_bytes == set.page_size_bytes);
    study.page_size_bytes = set.page_size_bytes;
    for (const auto* pass : {&curve.up, &curve.down}) {
      for (const auto& point : *pass) {
        study.largest_page_count = std::max(study.largest_page_count, point.pages_per_cycle);
      }
    }
    const auto& [low, high] = curve.capacity;
    if (low) all.low_pages = std::max(*low, all.low_pages.value_or(0));
    if (high) all.high_pages = std::min(*high, all.high_pages.value_or(*high));
  }
  if (!same_pages) study.page_size_bytes = 0;
  study.collapses = !all.low_pages || !all.high_pages || *all.low_pages < *all.high_pages;
  if (study.collapses) study.capacity = all;
}

}  // namespace

std::uint64_t pages_per_cycle(const WorkingSet& set, std::uint64_t message_size_bytes) noexcept {
  if (set.page_size_bytes == 0) return 0;
  const auto whole = message_size_bytes / set.page_size_bytes;
  return set.block_count * (whole + (message_size_bytes % set.page_size_bytes == 0 ? 0 : 1));
}

BlockStudy study_blocks(const records::ResultSet& record, const BlockPolicy& policy) {
  if (!(policy.drop > 0 && policy.drop <= 1)) throw std::invalid_argument("a drop is above 0 and at most 1");
  BlockStudy study;
  study.curves = curves_of(record);
  fit_floors(study.curves, policy.drop);
  for (auto& curve : study.curves) {
    mark(curve.up, *curve.floor, policy.drop);
    mark(curve.down, *curve.floor, policy.drop);
    curve.up_edge = up_edge_of(curve.up);
    curve.down_edge = down_edge_of(curve.down);
    curve.loop_area_bytes = loop_area_of(curve);
    curve.capacity = capacity_of(curve);
  }
  combine(study);
  return study;
}

NeedVerdict judge_need(const BlockStudy& study, std::uint64_t need_bytes) noexcept {
  if (study.page_size_bytes == 0) return NeedVerdict::undecided;
  const auto pages = need_bytes / study.page_size_bytes + (need_bytes % study.page_size_bytes == 0 ? 0 : 1);
  if (study.capacity.low_pages && *study.capacity.low_pages >= pages) return NeedVerdict::pass;
  if (study.capacity.high_pages && *study.capacity.high_pages < pages) return NeedVerdict::fail;
  return NeedVerdict::undecided;
}

}  // namespace mtuscope::analysis
