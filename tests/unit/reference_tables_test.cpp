#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mtuscope/core/error.hpp"
#include "mtuscope/reference/tables.hpp"

namespace mtuscope::reference {
namespace {

using ::testing::HasSubstr;

const Summary& summary_at(const records::ResultSet& table, const Point& wanted) {
  const auto found = std::ranges::find_if(
      table.points, [&wanted](const records::PointResult& result) { return result.point == wanted; });
  EXPECT_NE(found, table.points.end()) << describe(wanted);
  return std::get<Measured>(found->outcome).summary;
}

TEST(ReferenceTables, AreListedByIdWithTheirSource) {
  const auto tables = list_tables();
  EXPECT_GE(tables.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(tables, {}, &TableInfo::id));
  for (const auto& info : tables) {
    SCOPED_TRACE(info.id);
    EXPECT_FALSE(info.title.empty());
    EXPECT_FALSE(info.reference.empty());
    const auto table = load_table(info.id);
    EXPECT_EQ(table.points.size(), info.point_count);
    EXPECT_EQ(table.header.source, Source::posted);
    EXPECT_FALSE(table.header.provenance->not_stated.empty());
    for (const auto& result : table.points) EXPECT_EQ(std::get<Measured>(result.outcome).summary.trial_count, 0U);
  }
}

TEST(ReferenceTables, TavorIsAsPosted) {
  const auto table = load_table("tavor");
  ASSERT_EQ(table.points.size(), 12U);
  Point point;
  point.connection = Connection::mpi;
  point.path_mtu = PathMtu::mtu2048;
  point.message_size_bytes = 4096;
  point.header_bytes = 50;
  EXPECT_DOUBLE_EQ(summary_at(table, point).bandwidth_bytes_per_s->value, 417.592991e6);
  point.path_mtu = PathMtu::mtu1024;
  EXPECT_DOUBLE_EQ(summary_at(table, point).bandwidth_bytes_per_s->value, 501.442289e6);
  EXPECT_FALSE(summary_at(table, point).bandwidth_bytes_per_s->low);
  EXPECT_EQ(load_table("tavor-mpi-2006").header.provenance->claims.size(), 6U);
}

TEST(ReferenceTables, PingPongOfTheVerbsExamplesIsHalved) {
  // 8.44 Mbit/s of both directions at 1 B: 527,500 B/s one way, one message per round trip, so half of that takes
  // 1 / (2 x 527,500) s.
  Point point;
  point.pattern = Pattern::ping_pong;
  point.path_mtu = PathMtu::mtu1024;
  point.message_size_bytes = 1;
  point.wait_mode = WaitMode::spin;
  const auto table = load_table("cx2-pingpong");
  const auto& summary = summary_at(table, point);
  EXPECT_NEAR(summary.bandwidth_bytes_per_s->value, 527'500, 1e-6);
  EXPECT_NEAR(summary.latency_ns->value, 1e9 / (2 * 527'500.0), 1e-6);
}

TEST(ReferenceTables, PerftestMegabytesAreBinary) {
  for (const auto* id : {"cx2-write-bw-29ghz", "softroce-read-1g", "opa-hfi1-write-bw"}) {
    SCOPED_TRACE(id);
    for (const auto& result : load_table(id).points) {
      const auto& summary = std::get<Measured>(result.outcome).summary;
      const double from_rate = summary.message_rate_per_s->value * static_cast<double>(result.point.message_size_bytes);
      // The printed rate has 6 decimals of a million: one message per second, at least.
      const double unit = static_cast<double>(result.point.message_size_bytes) + 0.006 * 1048576;
      EXPECT_NEAR(summary.bandwidth_bytes_per_s->value, from_rate, unit);
    }
  }
}

TEST(ReferenceTables, UnknownNamesSayWhatThereIs) {
  try {
    (void)load_table("tavor-2007");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tavor-mpi-2006"));
  }
}

}  // namespace
}  // namespace mtuscope::reference
