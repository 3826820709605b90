#include <gtest/gtest.h>

#include "analysis_records.hpp"
#include "mtuscope/analysis/crossover.hpp"

namespace mtuscope::analysis {
namespace {

using namespace testing_records;

CurvePoint at(std::uint64_t size, double value, double half_width = 0) {
  const Spread spread = half_width > 0 ? Spread::interval : Spread::exact;
  return {size, size, {value, value - half_width, value + half_width}, spread, 8};
}

TEST(AnalysisCrossover, FindsTheTavorTablesTwo) {
  const auto series = series_of(tavor_table(), Metric::bandwidth).at(0);
  const auto found =
      crossovers(series.curves.at(PathMtu::mtu1024), series.curves.at(PathMtu::mtu2048), Metric::bandwidth);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].before, Lead::same);
  EXPECT_EQ(found[0].after, Lead::second);
  EXPECT_EQ(found[0].below.message_size_bytes, 512U);
  EXPECT_EQ(found[0].above.wire_size_bytes, 1074U);
  EXPECT_EQ(found[1].before, Lead::second);
  EXPECT_EQ(found[1].after, Lead::first);
  EXPECT_EQ(found[1].below.message_size_bytes, 1800U);
  EXPECT_EQ(found[1].above.message_size_bytes, 2048U);
}

TEST(AnalysisCrossover, UndecidedSizesWidenTheBracket) {
  const Curve first{at(1, 100, 1), at(2, 100, 20), at(3, 100, 20), at(4, 100, 1)};
  const Curve second{at(1, 90, 1), at(2, 95, 1), at(3, 105, 1), at(4, 110, 1)};
  const auto found = crossovers(first, second, Metric::bandwidth);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].below.wire_size_bytes, 1U);
  EXPECT_EQ(found[0].above.wire_size_bytes, 4U);
}

TEST(AnalysisCrossover, NothingFoundWhereNothingChanges) {
  const Curve low{at(1, 100), at(2, 100)};
  const Curve high{at(1, 200), at(2, 200)};
  EXPECT_TRUE(crossovers(low, high, Metric::bandwidth).empty());
  EXPECT_TRUE(crossovers(low, low, Metric::bandwidth).empty());
  EXPECT_TRUE(crossovers(low, {}, Metric::bandwidth).empty());
  EXPECT_TRUE(crossovers({}, {}, Metric::bandwidth).empty());
  const Curve elsewhere{at(3, 1), at(4, 1000)};
  EXPECT_TRUE(crossovers(low, elsewhere, Metric::bandwidth).empty());
}

TEST(AnalysisCrossover, LeadNeedsMoreThanThePolicyAsks) {
  const CrossoverPolicy policy{0.005};
  EXPECT_EQ(lead_at(at(1, 100.6), at(1, 100), Metric::bandwidth, policy), Lead::first);
  EXPECT_EQ(lead_at(at(1, 100.4), at(1, 100), Metric::bandwidth, policy), Lead::same);
  EXPECT_EQ(lead_at(at(1, 100), at(1, 100.6), Metric::bandwidth, policy), Lead::second);
  EXPECT_EQ(lead_at(at(1, 100), at(1, 100.4), Metric::bandwidth, policy), Lead::same);
}

TEST(AnalysisCrossover, LowerLatencyLeads) {
  EXPECT_EQ(lead_at(at(1, 5), at(1, 6), Metric::latency, {}), Lead::first);
  EXPECT_EQ(lead_at(at(1, 6), at(1, 5), Metric::latency, {}), Lead::second);
}

}  // namespace
}  // namespace mtuscope::analysis
