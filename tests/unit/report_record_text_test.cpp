#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "analysis_records.hpp"
#include "mtuscope/report/record_text.hpp"
#include "mtuscope/report/series_table.hpp"

namespace mtuscope::report {
namespace {

using namespace testing_records;
constexpr auto k1K = PathMtu::mtu1024;
constexpr auto k2K = PathMtu::mtu2048;
constexpr auto k4K = PathMtu::mtu4096;

/// Compares with tests/data/report/NAME; a test that fails shows both.
void expect_golden(const std::string& name, const std::string& text) {
  std::ifstream file{std::string{MTUSCOPE_SOURCE_DIR} + "/tests/data/report/" + name};
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "tests/data/report/" << name;
}

records::PointResult skipped(const Point& common, PathMtu mtu, std::uint64_t size, const std::string& reason) {
  auto point = common;
  point.path_mtu = mtu;
  point.message_size_bytes = size;
  return {point, Skipped{reason}};
}

/// Everything a measured record can show: a clear winner, none, a skip, a failure, a note, losses, latencies, proofs.
records::ResultSet measured_record() {
  const auto rc = point_of(Connection::rc, Pattern::stream, 0);
  auto record = record_of(Source::measured, rc,
                          {{k1K, 1024, 100, 1},
                           {k2K, 1024, 100.5, 1},
                           {k1K, 4096, 150, 1},
                           {k2K, 4096, 125, 1},
                           {k1K, 8192, 140},
                           {k2K, 8192, 126, 1}});
  record.points.push_back(skipped(rc, k4K, 1024, "path MTU 4096 is above the port's active 2048"));
  record.points.push_back(skipped(rc, k4K, 4096, "path MTU 4096 is above the port's active 2048"));
  auto failed = record.points.back();
  failed.point.message_size_bytes = 8192;
  failed.outcome = Failed{"the peer took nothing for 10 s", {}};
  record.points.push_back(failed);
  std::get<Measured>(record.points[4].outcome).note = "stopped by --max-time at 3 trials";
  auto ud = record_of(Source::measured, point_of(Connection::ud, Pattern::stream, 0),
                      {{k1K, 1024, 80, 1}, {k2K, 1024, 90, 1}});
  std::get<Measured>(ud.points[0].outcome).summary.loss_fraction = 0;
  std::get<Measured>(ud.points[1].outcome).summary.loss_fraction = 0.0125;
  record.points.insert(record.points.end(), ud.points.begin(), ud.points.end());
  auto latency =
      record_of(Source::measured, point_of(Connection::rc, Pattern::ping_pong, 0), {{k1K, 64, 1}, {k2K, 64, 1}});
  for (auto& [point, outcome] : latency.points) {
    auto& summary = std::get<Measured>(outcome).summary;
    const double p50 = point.path_mtu == k1K ? 2000 : 2500;
    summary.bandwidth_bytes_per_s.reset();
    summary.latency_ns = Estimate{p50 + 10, p50 - 50, p50 + 60};
    auto& latency_summary = summary.latency.emplace();
    latency_summary.p50_ns = p50;
    latency_summary.p99_ns = p50 * 2;
    latency_summary.max_ns = 90000;
  }
  std::get<Measured>(latency.points[1].outcome).summary.latency->p99_ns.reset();
  record.points.insert(record.points.end(), latency.points.begin(), latency.points.end());
  sweep::SessionRecord session;
  auto& proof = session.proof;
  proof.asked = k1K;
  proof.local_active = proof.remote_active = k2K;
  proof.local_read_back = k1K;
  proof.burst_messages = 16;
  proof.burst_message_size_bytes = 8192;
  proof.expected_packets = 128;
  proof.counted_packets = 130;
  proof.counter = "rxe0/1 hw_counters/sent_pkts";
  proof.verdict = ProofVerdict::proved;
  proof.reason = "at least the expected packets";
  record.sessions.push_back(session);
  session.arrangement = 1;
  session.proof.verdict = ProofVerdict::contradicted;
  session.proof.reason = "read back 2048";
  record.sessions.push_back(session);
  record.complete = false;
  return record;
}

TEST(ReportRecordText, MeasuredRecordIsGolden) {
  const auto record = measured_record();
  expect_golden("measured.txt", tables_text(record, Color::off) + "\n" + notes_text(record, Color::off));
}

TEST(ReportRecordText, PostedTableIsGoldenAndUnmarked) {
  const auto text = tables_text(tavor_table(), Color::off);
  expect_golden("posted.txt", text);
  EXPECT_EQ(text.find('*'), std::string::npos);
}

TEST(ReportRecordText, EveryModelTableSaysModel) {
  auto record = record_of(Source::model, point_of(Connection::mpi, Pattern::stream, 50), {{k1K, 512, 1}});
  const auto rc = record_of(Source::model, point_of(Connection::rc, Pattern::stream, 0), {{k1K, 512, 1}});
  record.points.push_back(rc.points[0]);
  const auto text = tables_text(record, Color::off);
  const auto first = text.find("MODEL, not measured: mpi send stream");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("MODEL, not measured: rc send stream"), std::string::npos) << text;
  EXPECT_NE(text.find("exact"), std::string::npos);
  EXPECT_NE(notes_text(record, Color::off).find("MODEL: these numbers are computed by model:tavor"), std::string::npos);
}

TEST(ReportRecordText, OneReasonIsSaidOnce) {
  const auto notes = notes_text(measured_record(), Color::off);
  const std::string reason = "path MTU 4096 is above the port's active 2048";
  const auto first = notes.find(reason);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(notes.find(reason, first + 1), std::string::npos);
}

TEST(ReportRecordText, TheSlowestSliceIsNamedWithItsPoint) {
  auto record = measured_record();
  EXPECT_EQ(notes_text(record, Color::off).find("slowest time slice"), std::string::npos);
  const auto set_slice = [&](std::size_t i, double share) {
    auto& summary = std::get<Measured>(record.points[i].outcome).summary;
    summary.min_slice_bytes_per_s = share * summary.bandwidth_bytes_per_s->value;
  };
  set_slice(0, 0.97);
  set_slice(3, 0.41);
  set_slice(4, 0.99);
  EXPECT_NE(notes_text(record, Color::off)
                .find("slowest time slice: 41 % of its point's bandwidth (rc send stream mtu 2048 size 4096 B)\n"),
            std::string::npos);
}

TEST(ReportRecordText, EmptyRecordHasNoTables) { EXPECT_EQ(tables_text({}, Color::off), ""); }

TEST(ReportSeriesTable, LaysOutGapsAndUnstatedMtus) {
  std::vector<Point> points(3, point_of(Connection::rc, Pattern::stream, 0));
  points[0].message_size_bytes = 64;
  points[1].message_size_bytes = 64;
  points[1].path_mtu = k2K;
  points[2].message_size_bytes = 128;
  points[2].path_mtu = k2K;
  const auto layouts = lay_out(points.size(), [&](std::size_t i) -> const Point& { return points[i]; });
  ASSERT_EQ(layouts.size(), 1U);
  const std::vector<std::optional<PathMtu>> mtus{std::nullopt, k2K};
  EXPECT_EQ(layouts[0].path_mtus, mtus);
  const std::vector<std::optional<std::size_t>> first{0U, 1U};
  const std::vector<std::optional<std::size_t>> second{std::nullopt, 2U};
  EXPECT_EQ(layouts[0].rows.at(64), first);
  EXPECT_EQ(layouts[0].rows.at(128), second);
  const SeriesTable table{layouts[0].common, mtus, Source::imported, "osu"};
  EXPECT_NE(table.columns().header_lines().find("MTU not stated MB/s"), std::string::npos);
  EXPECT_EQ(table.title().substr(0, 9), "IMPORTED:");
}

TEST(ReportSeriesTable, SaysThatNothingIsSent) {
  EXPECT_EQ(label_of(Source::measured, "null"), "OWN COST, nothing is sent: ");
  EXPECT_EQ(label_of(Source::measured, "memset"), "MEMORY'S FLOOR, nothing is sent: ");
  EXPECT_EQ(label_of(Source::measured, "verbs"), "");
}

}  // namespace
}  // namespace mtuscope::report
