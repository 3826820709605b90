#include <gtest/gtest.h>

#include "analysis_records.hpp"
#include "mtuscope/analysis/posted.hpp"

namespace mtuscope::analysis {
namespace {

using namespace testing_records;
constexpr auto k1K = PathMtu::mtu1024;
constexpr auto k4K = PathMtu::mtu4096;

TEST(AnalysisPosted, PairsOnWireSizeAndMtu) {
  const auto run = record_of(Source::model, point_of(Connection::mpi, Pattern::stream, 50),
                             {{k1K, 512, 280.523928}, {k4K, 1024, 1}, {k1K, 777, 5}});
  const auto result = compare_with_table(run, tavor_table());
  ASSERT_EQ(result.comparisons.size(), 1U);
  const auto& comparison = result.comparisons[0];
  ASSERT_EQ(comparison.pairs.size(), 1U);
  EXPECT_EQ(comparison.pairs[0].path_mtu, k1K);
  EXPECT_NEAR(comparison.pairs[0].residual_fraction, 1.0, 1e-9);
  EXPECT_EQ(comparison.pairs[0].posted.spread, Spread::stated);
  EXPECT_EQ(comparison.pairs[0].ours.spread, Spread::exact);
  EXPECT_EQ(comparison.unpaired.size(), 11U);
  EXPECT_TRUE(result.refusal.empty());
}

TEST(AnalysisPosted, RcRunMeetsAnMpiTableOnTheWire) {
  const auto run = record_of(Source::measured, point_of(Connection::rc, Pattern::stream, 0), {{k1K, 562, 100, 1}});
  const auto result = compare_with_table(run, tavor_table());
  ASSERT_EQ(result.comparisons.size(), 1U);
  EXPECT_EQ(result.comparisons[0].pairs.at(0).ours.message_size_bytes, 562U);
  EXPECT_EQ(result.comparisons[0].pairs.at(0).posted.message_size_bytes, 512U);
}

TEST(AnalysisPosted, MessageSizesAreNotTakenForWireSizes) {
  const auto run = record_of(Source::measured, point_of(Connection::rc, Pattern::stream, 0), {{k1K, 512, 100, 1}});
  const auto result = compare_with_table(run, tavor_table());
  EXPECT_TRUE(result.comparisons.empty());
  EXPECT_NE(result.refusal.find("no wire size"), std::string::npos) << result.refusal;
  EXPECT_NE(result.refusal.find("562"), std::string::npos) << result.refusal;
}

TEST(AnalysisPosted, RefusesAPingPongEvenIfItStatesABandwidth) {
  const auto run = record_of(Source::measured, point_of(Connection::mpi, Pattern::ping_pong, 50), {{k1K, 512, 100, 1}});
  const auto result = compare_with_table(run, tavor_table());
  EXPECT_TRUE(result.comparisons.empty());
  EXPECT_NE(result.refusal.find("ping-pong"), std::string::npos) << result.refusal;
  EXPECT_NE(result.refusal.find("stream"), std::string::npos) << result.refusal;
}

TEST(AnalysisPosted, RefusesAPingPongThatHasLatencyOnly) {
  auto run = record_of(Source::measured, point_of(Connection::mpi, Pattern::ping_pong, 50), {{k1K, 512, 100, 1}});
  auto& summary = std::get<Measured>(run.points[0].outcome).summary;
  summary.latency_ns = summary.bandwidth_bytes_per_s;
  summary.bandwidth_bytes_per_s.reset();
  const auto result = compare_with_table(run, tavor_table());
  EXPECT_TRUE(result.comparisons.empty());
  EXPECT_NE(result.refusal.find("ping-pong"), std::string::npos) << result.refusal;
}

TEST(AnalysisPosted, RefusesOtherConnectionsAndOperations) {
  const auto table = point_of(Connection::mpi, Pattern::stream, 50);
  EXPECT_FALSE(incompatibility(point_of(Connection::ud, Pattern::stream, 0), table).empty());
  EXPECT_FALSE(incompatibility(point_of(Connection::uc, Pattern::stream, 0), table).empty());
  EXPECT_TRUE(incompatibility(point_of(Connection::rc, Pattern::stream, 0), table).empty());
  EXPECT_TRUE(incompatibility(table, point_of(Connection::rc, Pattern::stream, 0)).empty());
  auto write = point_of(Connection::rc, Pattern::stream, 0);
  write.operation = Operation::write;
  EXPECT_FALSE(incompatibility(write, table).empty());
}

TEST(AnalysisPosted, RefusesAnotherPairOfHosts) {
  auto run = point_of(Connection::mpi, Pattern::stream, 50);
  auto table = run;
  table.pair = Pair{"a", "c"};
  EXPECT_TRUE(incompatibility(run, table).empty()) << "a run that does not state its pair";
  run.pair = Pair{"a", "b"};
  EXPECT_NE(incompatibility(run, table).find("a to b"), std::string::npos) << incompatibility(run, table);
  table.pair = run.pair;
  EXPECT_TRUE(incompatibility(run, table).empty());
}

TEST(AnalysisPosted, EmptyRecordsAreRefusedWithAReason) {
  EXPECT_FALSE(compare_with_table({}, tavor_table()).refusal.empty());
  EXPECT_FALSE(compare_with_table(tavor_table(), {}).refusal.empty());
}

}  // namespace
}  // namespace mtuscope::analysis
