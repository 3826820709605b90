#include <gtest/gtest.h>

#include <limits>

#include "analysis_records.hpp"
#include "mtuscope/analysis/series.hpp"

namespace mtuscope::analysis {
namespace {

using namespace testing_records;
constexpr auto k1K = PathMtu::mtu1024;
constexpr auto k2K = PathMtu::mtu2048;
const Point kRcStream = point_of(Connection::rc, Pattern::stream, 0);

CurvePoint value(double v, double half_width = 0, Spread spread = Spread::interval) {
  CurvePoint point;
  point.estimate = {v, v - half_width, v + half_width};
  point.spread = spread;
  return point;
}

TEST(AnalysisSeries, SplitsByWhatIsNotAnAxisAndSortsBySize) {
  auto record = record_of(Source::measured, kRcStream, {{k2K, 64, 2}, {k1K, 128, 3}, {k1K, 64, 1}});
  const auto other = record_of(Source::measured, point_of(Connection::uc, Pattern::stream, 0), {{k1K, 64, 9}});
  record.points.push_back(other.points.front());
  const auto all = series_of(record, Metric::bandwidth);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].common.connection, Connection::rc);
  EXPECT_EQ(all[1].common.connection, Connection::uc);
  const auto& curve = all[0].curves.at(k1K);
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(curve[0].message_size_bytes, 64U);
  EXPECT_EQ(curve[1].message_size_bytes, 128U);
  EXPECT_EQ(all[0].curves.at(k2K).size(), 1U);
}

TEST(AnalysisSeries, LeavesOutWhatHasNoUsableValue) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  auto record = record_of(Source::measured, kRcStream, {{k1K, 1, kNan}, {k1K, 2, 0}, {k1K, 3, -1}, {k1K, 4, 5}});
  record.points.push_back({kRcStream, Skipped{"no"}});
  record.points.push_back({kRcStream, Failed{"no", {}}});
  auto without_mtu = record.points[3];
  without_mtu.point.path_mtu.reset();
  record.points.push_back(without_mtu);
  const auto all = series_of(record, Metric::bandwidth);
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].curves.at(k1K).size(), 1U);
  EXPECT_EQ(all[0].curves.at(k1K)[0].message_size_bytes, 4U);
  EXPECT_TRUE(series_of(record, Metric::latency).empty());
  EXPECT_TRUE(series_of(records::ResultSet{}, Metric::bandwidth).empty());
}

TEST(AnalysisSeries, KnowsWhereTheSpreadComesFrom) {
  const auto spread = [](Source source, double half_width) {
    const auto record = record_of(source, kRcStream, {{k1K, 64, 5, half_width}});
    return series_of(record, Metric::bandwidth).at(0).curves.at(k1K).at(0).spread;
  };
  EXPECT_EQ(spread(Source::measured, 1), Spread::interval);
  EXPECT_EQ(spread(Source::measured, 0), Spread::unknown);
  EXPECT_EQ(spread(Source::model, 0), Spread::exact);
  EXPECT_EQ(spread(Source::posted, 0), Spread::stated);
  EXPECT_EQ(spread(Source::imported, 0), Spread::stated);
}

TEST(AnalysisSeries, FindsByWireSizeOnly) {
  const auto record = record_of(Source::posted, point_of(Connection::mpi, Pattern::stream, 50), {{k1K, 512, 5}});
  const auto curve = series_of(record, Metric::bandwidth).at(0).curves.at(k1K);
  ASSERT_NE(find_wire_size(curve, 562), nullptr);
  EXPECT_EQ(find_wire_size(curve, 562)->message_size_bytes, 512U);
  EXPECT_EQ(find_wire_size(curve, 512), nullptr);
  EXPECT_EQ(find_wire_size({}, 1), nullptr);
}

TEST(AnalysisSeries, RatioSpansTheExtremesOfBothIntervals) {
  const auto ratio = ratio_of(value(110, 11), value(100, 10));
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 1.1);
  EXPECT_DOUBLE_EQ(ratio->low, 99.0 / 110.0);
  EXPECT_DOUBLE_EQ(ratio->high, 121.0 / 90.0);
  EXPECT_FALSE(ratio_of(value(1, 0, Spread::unknown), value(1)));
  EXPECT_FALSE(ratio_of(value(1), value(1, 2)));  // an interval that reaches below 0 bounds nothing
}

TEST(AnalysisSeries, WinnerMustBeClearOfEveryOther) {
  EXPECT_EQ(clear_winner({value(100, 1), value(110, 1)}, Metric::bandwidth), 1U);
  EXPECT_EQ(clear_winner({value(100, 1), value(110, 1)}, Metric::latency), 0U);
  EXPECT_FALSE(clear_winner({value(100, 6), value(110, 5)}, Metric::bandwidth));
  EXPECT_FALSE(clear_winner({value(100, 5), value(110, 5)}, Metric::bandwidth));  // touching is not clear
  EXPECT_FALSE(clear_winner({value(100, 1), value(110, 1), value(111, 1)}, Metric::bandwidth));
  EXPECT_EQ(clear_winner({value(100, 0, Spread::exact), value(101, 0, Spread::exact)}, Metric::bandwidth), 1U);
  EXPECT_FALSE(clear_winner({value(100, 0, Spread::exact), value(100, 0, Spread::exact)}, Metric::bandwidth));
}

TEST(AnalysisSeries, ValuesWithoutSpreadNeitherWinNorLose) {
  EXPECT_FALSE(clear_winner({value(100, 0, Spread::stated), value(900, 0, Spread::stated)}, Metric::bandwidth));
  EXPECT_FALSE(clear_winner({value(100, 1), value(900, 0, Spread::unknown)}, Metric::bandwidth));
  EXPECT_FALSE(clear_winner({value(100, 1), std::nullopt}, Metric::bandwidth));
  EXPECT_FALSE(clear_winner({}, Metric::bandwidth));
}

}  // namespace
}  // namespace mtuscope::analysis
