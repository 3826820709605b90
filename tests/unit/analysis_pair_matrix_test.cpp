#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "mtuscope/analysis/pair_matrix.hpp"

namespace mtuscope::analysis {
namespace {

using Values = std::function<double(std::uint32_t, std::uint32_t)>;

/// The point of a pair of hosts "h0", "h1", ... that measured `value`.
records::PointResult point_of(std::uint32_t initiator, std::uint32_t responder, double value, Pattern pattern) {
  Point point;
  point.pattern = pattern;
  point.path_mtu = PathMtu::mtu2048;
  point.message_size_bytes = 4096;
  point.pair = Pair{"h" + std::to_string(initiator), "h" + std::to_string(responder)};
  Measured measured;
  auto& estimate = pattern == Pattern::ping_pong ? measured.summary.latency_ns : measured.summary.bandwidth_bytes_per_s;
  estimate = Estimate{value, {}, {}};
  return {point, measured};
}

std::vector<records::PointResult> points_of(std::uint32_t hosts, const Values& value, Pattern pattern) {
  std::vector<records::PointResult> points;
  for (std::uint32_t i = 0; i < hosts; ++i) {
    for (std::uint32_t j = i + 1; j < hosts; ++j) points.push_back(point_of(i, j, value(i, j), pattern));
  }
  return points;
}

PairMatrix matrix_of(const std::vector<records::PointResult>& points) {
  PairMatrices matrices;
  for (const auto& point : points) matrices.add({}, point);
  const auto all = matrices.finish();
  EXPECT_EQ(all.size(), 1U);
  return all.at(0);
}

PairMatrix matrix_of(std::uint32_t hosts, const Values& value, Pattern pattern = Pattern::stream) {
  return matrix_of(points_of(hosts, value, pattern));
}

/// A little of everything: 1000 and up to 2 % more.
double noisy(std::uint32_t i, std::uint32_t j) { return 1000.0 + (i * 7 + j * 13) % 20; }

bool has(std::uint32_t host, std::uint32_t i, std::uint32_t j) { return i == host || j == host; }

TEST(PairMatrix, FindsTheSlowHostAndNoOther) {
  for (std::uint32_t slow = 0; slow < 8; ++slow) {
    const auto matrix =
        matrix_of(8, [slow](auto i, auto j) { return has(slow, i, j) ? noisy(i, j) * 0.8 : noisy(i, j); });
    ASSERT_TRUE(matrix.hosts_decided);
    ASSERT_EQ(matrix.slow_hosts.size(), 1U);
    const auto& host = matrix.slow_hosts.front();
    EXPECT_EQ(matrix.names[host.name], "h" + std::to_string(slow));
    EXPECT_EQ(host.pair_count, 7U);
    EXPECT_EQ(host.worse_count, 7U);
    EXPECT_LT(host.value, matrix.host_limit);
    EXPECT_LT(matrix.host_limit, matrix.host_median);
  }
}

TEST(PairMatrix, OfLatencyTheHighIsTheWorse) {
  const auto matrix = matrix_of(
      8, [](auto i, auto j) { return has(3, i, j) ? noisy(i, j) * 1.3 : noisy(i, j); }, Pattern::ping_pong);
  ASSERT_EQ(matrix.slow_hosts.size(), 1U);
  EXPECT_EQ(matrix.names[matrix.slow_hosts.front().name], "h3");
  EXPECT_GT(matrix.host_limit, matrix.host_median);
  EXPECT_GT(matrix.worst.front().value, matrix.median);
  EXPECT_LT(matrix.best->value, matrix.median);
}

TEST(PairMatrix, EqualHostsAreNotSlow) {
  EXPECT_TRUE(matrix_of(8, [](auto, auto) { return 1000.0; }).slow_hosts.empty());
  EXPECT_TRUE(matrix_of(8, noisy).slow_hosts.empty());
  // Beyond three deviations of near-equal hosts, but by 4 % only.
  const auto matrix = matrix_of(8, [](auto i, auto j) { return has(5, i, j) ? 960.0 : 1000.0; });
  EXPECT_TRUE(matrix.hosts_decided);
  EXPECT_TRUE(matrix.slow_hosts.empty());
}

TEST(PairMatrix, OneSlowPairMakesNoSlowHost) {
  const auto matrix = matrix_of(8, [](auto i, auto j) { return i == 2 && j == 6 ? 100.0 : noisy(i, j); });
  EXPECT_TRUE(matrix.slow_hosts.empty());
  EXPECT_EQ(matrix.names[matrix.worst.front().initiator], "h2");
  EXPECT_EQ(matrix.names[matrix.worst.front().responder], "h6");
  EXPECT_EQ(matrix.worst.size(), 5U);
  EXPECT_TRUE(std::is_sorted(matrix.worst.begin(), matrix.worst.end(),
                             [](const auto& a, const auto& b) { return a.value < b.value; }));
}

TEST(PairMatrix, ASlowHostIsSlowInItsWholeRow) {
  // The median of h4's seven pairs is low, but three of them are good: a link, or a neighbour, is slow and not the
  // host.
  const auto matrix = matrix_of(8, [](auto i, auto j) {
    return has(4, i, j) && (i + j) % 2 == 0 ? 2000.0 : has(4, i, j) ? 500.0 : noisy(i, j);
  });
  EXPECT_TRUE(matrix.slow_hosts.empty());
}

TEST(PairMatrix, FindsSeveralSlowHostsThoughTheMedianPairIsSlow) {
  // 18 of the 28 pairs have a slow end, so the median pair is one of them: hosts are judged by the median host.
  const auto matrix = matrix_of(8, [](auto i, auto j) { return i < 3 || j < 3 ? noisy(i, j) * 0.7 : noisy(i, j); });
  EXPECT_LT(matrix.median, 800);
  EXPECT_GT(matrix.host_median, 990);
  ASSERT_EQ(matrix.slow_hosts.size(), 3U);
  std::vector<std::string> slow;
  for (const auto& host : matrix.slow_hosts) {
    slow.push_back(matrix.names[host.name]);
    EXPECT_EQ(host.worse_count, 7U);
  }
  EXPECT_THAT(slow, ::testing::UnorderedElementsAre("h0", "h1", "h2"));
}

TEST(PairMatrix, TooFewHostsAreNotJudged) {
  EXPECT_FALSE(matrix_of(3, noisy).hosts_decided);
  EXPECT_TRUE(matrix_of(4, noisy).hosts_decided);
  EXPECT_FALSE(matrix_of(2, noisy).hosts_decided);
}

TEST(PairMatrix, TheOrderOfPointsDoesNotMatter) {
  auto points = points_of(
      8, [](auto i, auto j) { return has(1, i, j) ? 700.0 : noisy(i, j); }, Pattern::stream);
  const auto one = matrix_of(points);
  std::reverse(points.begin(), points.end());
  const auto other = matrix_of(points);
  EXPECT_EQ(one.median, other.median);
  EXPECT_EQ(one.host_limit, other.host_limit);
  ASSERT_EQ(other.slow_hosts.size(), 1U);
  EXPECT_EQ(other.names[other.slow_hosts.front().name], "h1");
  const auto names_of = [](const PairMatrix& matrix) {
    std::vector<std::string> names;
    for (const auto& pair : matrix.worst)
      names.push_back(matrix.names[pair.initiator] + ">" + matrix.names[pair.responder]);
    return names;
  };
  EXPECT_EQ(names_of(one), names_of(other));  // its seven pairs are equal: told apart by name
  EXPECT_THAT(names_of(one), ::testing::ElementsAre("h0>h1", "h1>h2", "h1>h3", "h1>h4", "h1>h5"));
}

TEST(PairMatrix, SizesAndPathMtusAreMatricesOfTheirOwn) {
  PairMatrices matrices;
  auto point = point_of(0, 1, 1000, Pattern::stream);
  matrices.add({}, point);
  point.point.message_size_bytes = 64;
  matrices.add({}, point);
  point.point.path_mtu = PathMtu::mtu1024;
  matrices.add({}, point);
  point.point.pair.reset();
  matrices.add({}, point);
  EXPECT_EQ(matrices.finish().size(), 3U);
}

TEST(PairMatrix, CountsWhatWasNotMeasuredAsAsked) {
  PairMatrices matrices;
  records::ResultSet record;
  record.sessions.resize(2);
  record.sessions[1].proof.verdict = ProofVerdict::contradicted;
  auto point = point_of(0, 1, 1000, Pattern::stream);
  std::get<Measured>(point.outcome).session = 1;
  matrices.add(record, point);
  std::get<Measured>(point.outcome).session = 0;
  matrices.add(record, point);
  point.outcome = Skipped{"too large"};
  for (int i = 0; i < 7; ++i) matrices.add(record, point);
  point.outcome = Failed{"no route", {}};
  matrices.add(record, point);
  const auto matrix = matrices.finish().at(0);
  EXPECT_EQ(matrix.contradicted.count, 1U);
  EXPECT_EQ(matrix.skipped.at("too large").count, 7U);
  EXPECT_EQ(matrix.skipped.at("too large").first.size(), 5U);
  EXPECT_EQ(matrix.failed.at("no route").count, 1U);
  EXPECT_EQ(matrix.values.size(), 1U);
}

}  // namespace
}  // namespace mtuscope::analysis
