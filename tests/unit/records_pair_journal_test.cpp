#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "mtuscope/core/error.hpp"
#include "mtuscope/records/json.hpp"
#include "mtuscope/records/pair_journal.hpp"
#include "mtuscope/sweep/planner.hpp"
#include "mtuscope/sweep/runner.hpp"

namespace mtuscope::records {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Trial trial(std::uint32_t round, std::uint64_t elapsed_ns) {
  Trial result;
  result.round = round;
  result.order = round;
  result.messages = 1000;
  result.elapsed_ns = elapsed_ns;
  return result;
}

class PairJournalTest : public testing::Test {
 protected:
  PairJournalTest() {
    header.backend = "verbs";
    header.created_utc = "2026-01-01T00:00:00Z";
    header.spec.emplace();
    header.spec->path_mtus = {PathMtu::mtu1024, PathMtu::mtu2048};
    header.spec->message_sizes_bytes = {512, 4096};
    header.initiator = Environment{};
    header.pairs = PairPlan{"all", false, 2};
    for (const auto* name : {"a", "b", "c"}) {
      header.ranks.push_back({name, Environment{}});
      header.ranks.back().environment.host.hostname = name;
    }
    path = (fs::path(testing::TempDir()) / ("pairs_" + std::to_string(::getpid()) + ".journal")).string();
  }
  ~PairJournalTest() override { fs::remove(path); }

  /// One session for each path MTU, which the points name; the last point is skipped.
  [[nodiscard]] PairResult pair(std::uint32_t round, sweep::RankPair ranks, bool sliced = false) const {
    PairResult result{.round = round, .ranks = ranks};
    for (const auto path_mtu : header.spec->path_mtus) {
      result.sessions.emplace_back();
      result.sessions.back().proof.asked = path_mtu;
      result.sessions.back().proof.reason = "of " + std::to_string(ranks.initiator);
    }
    for (auto& point : sweep::plan_points(*header.spec)) {
      Measured measured;
      measured.trials = {trial(0, 1'000'000 + ranks.responder), trial(1, 1'000'100)};
      if (sliced) measured.trials.front().min_slice_bytes_per_s = 1e6;
      measured.summary = sweep::summarise(point, measured.trials, false);
      measured.session = point.path_mtu == PathMtu::mtu1024 ? 0 : 1;
      result.points.push_back({std::move(point), std::move(measured)});
    }
    result.points.back().outcome = Skipped{"too large"};
    return result;
  }

  void write(const std::vector<PairResult>& pairs, const std::string& torn = "") const {
    std::ofstream out(path, std::ios::binary);
    out << pair_journal_header(header);
    for (const auto& result : pairs) out << pair_journal_line(result);
    out << torn;
  }

  [[nodiscard]] ResultSet record(bool complete) const {
    std::stringstream text;
    write_pair_record(text, path, index_pair_journal(path), complete);
    std::stringstream again{text.str()};
    validate(again, "record");
    return read_record(text, "record");
  }

  RecordHeader header;
  std::string path;
};

TEST_F(PairJournalTest, BecomesARecordWithEveryPairByName) {
  write({pair(0, {1, 2}), pair(1, {0, 2}, true), pair(2, {0, 1})});
  const auto read = record(true);
  EXPECT_TRUE(read.complete);
  EXPECT_EQ(read.header.pairs, header.pairs);
  ASSERT_EQ(read.header.ranks.size(), 3U);
  EXPECT_EQ(read.header.ranks[2].name, "c");
  EXPECT_EQ(read.header.ranks[2].environment.host.hostname, "c");
  ASSERT_EQ(read.points.size(), 12U);
  EXPECT_EQ(read.points[0].point.pair, (Pair{"a", "b"}));  // by ranks, whatever the order of rounds
  EXPECT_EQ(read.points[4].point.pair, (Pair{"a", "c"}));
  EXPECT_EQ(read.points[8].point.pair, (Pair{"b", "c"}));
  ASSERT_EQ(read.sessions.size(), 6U);
  for (const auto& [point, outcome] : read.points) {
    const auto* measured = std::get_if<Measured>(&outcome);
    if (measured == nullptr) continue;
    const auto& proof = read.sessions.at(measured->session.value()).proof;
    EXPECT_EQ(proof.asked, point.path_mtu);
    EXPECT_EQ(proof.reason, point.pair->initiator == "a" ? "of 0" : "of 1");
    EXPECT_EQ(measured->trials.size(), 2U);
  }
  const auto& sliced = std::get<Measured>(read.points[4].outcome).trials.front();
  EXPECT_EQ(sliced.min_slice_bytes_per_s, 1e6);  // a column that one pair alone has
}

TEST_F(PairJournalTest, ATornLineIsLeftOut) {
  write({pair(0, {0, 1})}, R"({"round":1,"initiator":0)");
  EXPECT_EQ(index_pair_journal(path).entries.size(), 1U);
  EXPECT_FALSE(record(false).complete);
}

TEST_F(PairJournalTest, DamageIsNamedWithItsLine) {
  const auto fault = [this] {
    try {
      (void)index_pair_journal(path);
      return std::string{"nothing"};
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
  };
  write({pair(0, {0, 1}), pair(1, {0, 1})});
  EXPECT_THAT(fault(), HasSubstr("line 3"));
  EXPECT_THAT(fault(), HasSubstr("twice"));
  write({pair(0, {0, 3})});
  EXPECT_THAT(fault(), HasSubstr("no such two ranks"));
  write({}, "{}\n");
  EXPECT_THAT(fault(), HasSubstr("line 2"));
  std::ofstream{path} << "";
  EXPECT_THAT(fault(), HasSubstr("empty"));
  fs::remove(path);
  EXPECT_THAT(fault(), HasSubstr("nothing to resume"));
}

}  // namespace
}  // namespace mtuscope::records
