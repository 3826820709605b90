#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "file_size_limit.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/records/journal.hpp"
#include "mtuscope/records/json.hpp"
#include "mtuscope/sweep/planner.hpp"

namespace mtuscope::records {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Trial trial(std::uint32_t round) {
  Trial result;
  result.arrangement = round / 2;
  result.round = round;
  result.order = 10 + round;
  result.messages = 1000;
  result.elapsed_ns = 1'000'000 + round;
  return result;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    spec.path_mtus = {PathMtu::mtu1024, PathMtu::mtu2048};
    spec.message_sizes_bytes = {512, 4096};
    points = sweep::plan_points(spec);
    header.spec = spec;
    header.backend = "null";
    const auto name = testing::UnitTest::GetInstance()->current_test_info()->name();
    path = journal_path((fs::path(testing::TempDir()) / (std::string("mtuscope_") + name)).string());
    fs::remove(path);
  }
  ~JournalTest() override { fs::remove(path); }

  /// Three trials of point 0 and its outcome, one trial of point 2, point 3 skipped.
  void write_part(Journal::Mode mode) {
    Journal journal(path, mode, header, points);
    Environment responder;
    responder.host.hostname = "node8";
    journal.on_responder(responder);
    journal.on_session({});
    for (std::uint32_t round = 0; round < 3; ++round) journal.on_trial(0, trial(round));
    journal.on_trial(2, trial(0));
    journal.on_outcome(3, Skipped{"too large"});
    Measured measured;
    measured.summary.trial_count = 3;
    journal.on_outcome(0, measured);
  }
  void append(const std::string& text) const { std::ofstream(path, std::ios::app) << text; }

  sweep::SweepSpec spec;
  std::vector<Point> points;
  RecordHeader header;
  std::string path;
};

TEST_F(JournalTest, GivesBackWhatHadBeenMeasured) {
  write_part(Journal::Mode::start);
  const auto resume = load_journal(path, spec, points);
  ASSERT_TRUE(resume.responder);
  EXPECT_EQ(resume.responder->host.hostname, "node8");
  ASSERT_EQ(resume.trials.size(), 4U);
  EXPECT_EQ(resume.trials[0].size(), 3U);
  EXPECT_EQ(resume.trials[0][2].order, 12U);
  EXPECT_EQ(resume.trials[2].size(), 1U);
  EXPECT_EQ(std::get<Skipped>(*resume.outcomes[3]).reason, "too large");
  EXPECT_EQ(std::get<Measured>(*resume.outcomes[0]).trials.size(), 3U);
  EXPECT_FALSE(resume.outcomes[1]);
  EXPECT_FALSE(resume.outcomes[2]);
}

TEST_F(JournalTest, KeepsTheLatenciesOfATrial) {
  auto histogram = std::make_shared<LatencyHistogram>();
  for (const std::uint64_t value : {1000U, 1010U, 123'456U}) histogram->record(value);
  auto timed = trial(0);
  timed.latency = histogram;
  Journal(path, Journal::Mode::start, header, points).on_trial(1, timed);
  const auto resume = load_journal(path, spec, points);
  ASSERT_NE(resume.trials[1].at(0).latency, nullptr);
  EXPECT_EQ(resume.trials[1][0].latency->count(), 3U);
  EXPECT_EQ(resume.trials[1][0].latency->max_ns(), 123'456U);
}

TEST_F(JournalTest, ATornLastLineIsDroppedWhereverItWasTorn) {
  write_part(Journal::Mode::start);
  const auto whole = fs::file_size(path);
  const std::string line = R"({"point":2,"trial":{"arrangement":0,"round":1,"order":9,"messages":1,"elapsed_ns":1}})";
  for (std::size_t length = 1; length <= line.size(); ++length) {
    append(line.substr(0, length));
    EXPECT_EQ(load_journal(path, spec, points).trials[2].size(), 1U) << length;
    fs::resize_file(path, whole);
  }
  append(line + "\n");
  EXPECT_EQ(load_journal(path, spec, points).trials[2].size(), 2U);
}

TEST_F(JournalTest, ContinuesAfterATornLine) {
  write_part(Journal::Mode::start);
  append("{\"point\":2,\"tri");
  Journal(path, Journal::Mode::resume, header, points).on_trial(2, trial(1));
  EXPECT_EQ(load_journal(path, spec, points).trials[2].size(), 2U);
}

TEST_F(JournalTest, RefusesAnotherPlanAndSaysInWhatItDiffers) {
  write_part(Journal::Mode::start);
  auto other = spec;
  other.tx_depth = 64;
  try {
    (void)load_journal(path, other, sweep::plan_points(other));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tx_depth: 128 -> 64"));
  }
}

TEST_F(JournalTest, DamageInTheMiddleNamesTheLine) {
  write_part(Journal::Mode::start);
  append("{\"point\":99,\"trial\":{}}\n");
  try {
    (void)load_journal(path, spec, points);
    FAIL();
  } catch (const SchemaError& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 10"));
    EXPECT_EQ(error.json_path(), "/point");
  }
}

TEST_F(JournalTest, IsNotOverwrittenByANewRun) {
  write_part(Journal::Mode::start);
  EXPECT_THROW(write_part(Journal::Mode::start), ConfigError);
  EXPECT_EQ(load_journal(path, spec, points).trials[0].size(), 3U);
  Journal(path, Journal::Mode::resume, header, points).discard();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THROW((void)load_journal(path, spec, points), ConfigError);
}

TEST_F(JournalTest, IsContinuedByOneRunAtATime) {
  const Journal first(path, Journal::Mode::start, header, points);
  try {
    const Journal second(path, Journal::Mode::resume, header, points);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("in use"));
  }
}

TEST_F(JournalTest, AFullDiskLosesNothingThatWasWritten) {
  write_part(Journal::Mode::start);
  const auto whole = fs::file_size(path);
  Journal journal(path, Journal::Mode::resume, header, points);
  std::string message;
  {
    const FileSizeLimit limit(whole + 20);
    try {
      journal.on_trial(2, trial(1));
    } catch (const RunError& error) {
      message = error.what();
    }
  }
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_EQ(fs::file_size(path), whole) << "half a line stayed";
  journal.on_trial(2, trial(1));
  EXPECT_EQ(load_journal(path, spec, points).trials[2].size(), 2U);
}

/// How many whole lines `text` has.
std::size_t whole_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t event_count(const sweep::Resume& resume) {
  auto count = resume.sessions.size() + (resume.responder ? 1 : 0);
  for (const auto& trials : resume.trials) count += trials.size();
  for (const auto& outcome : resume.outcomes) count += outcome ? 1 : 0;
  return count;
}

TEST_F(JournalTest, CutOffAtAnyByteItKeepsEveryWholeLineOrSaysThatThereIsNone) {
  write_part(Journal::Mode::start);
  auto timed = trial(1);
  auto histogram = std::make_shared<LatencyHistogram>();
  histogram->record(1234);
  timed.latency = histogram;
  {
    Journal journal(path, Journal::Mode::resume, header, points);
    journal.on_trial(1, timed);
    journal.on_outcome(1, Failed{"gone: \xc3\xa9", {timed}});
  }
  const auto text = text_of(path);
  ASSERT_EQ(whole_lines(text), 11U);
  for (std::size_t length = 0; length <= text.size(); ++length) {
    SCOPED_TRACE(length);
    const auto prefix = text.substr(0, length);
    std::ofstream(path, std::ios::trunc) << prefix;
    if (whole_lines(prefix) == 0) {
      EXPECT_THROW((void)load_journal(path, spec, points), SchemaError);
      continue;
    }
    EXPECT_EQ(event_count(load_journal(path, spec, points)), whole_lines(prefix) - 1);
    EXPECT_EQ(read_journal(path).points.size(), points.size());
    Journal(path, Journal::Mode::resume, header, points).on_trial(2, trial(7));
    EXPECT_EQ(event_count(load_journal(path, spec, points)), whole_lines(prefix)) << "after going on";
  }
}

TEST_F(JournalTest, WhatNoRunCanHaveWrittenIsDamage) {
  const std::string trial_head = R"({"point":2,"trial":{"arrangement":0,"round":1,"order":9,)";
  for (const auto& line :
       {trial_head + R"("messages":1,"elapsed_ns":0}})", trial_head + R"("messages":0,"elapsed_ns":1}})",
        std::string(R"({"point":0,"trial":{"arrangement":3,"round":1,"order":99,"messages":1,"elapsed_ns":1}})"),
        std::string(R"({"point":2,"result":{"outcome":"measured","session":1,"summary":)"
                    R"({"trial_count":0,"arrangement_count":0,"bandwidth_bytes_per_s":null}}})")}) {
    fs::remove(path);
    write_part(Journal::Mode::start);
    append(line + "\n");
    EXPECT_THROW((void)read_journal(path), SchemaError) << line;
    EXPECT_THROW((void)load_journal(path, spec, points), SchemaError) << line;
  }
}

TEST_F(JournalTest, IsNotLeftBehindWithoutItsFirstLine) {
  const FileSizeLimit limit(100);
  EXPECT_THROW(write_part(Journal::Mode::start), RunError);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(JournalTest, IsARegularFile) {
  EXPECT_THROW(Journal("/dev/full", Journal::Mode::resume, header, points), ConfigError);
}

TEST_F(JournalTest, OfAKilledRunReadsAsAnIncompleteRecord) {
  write_part(Journal::Mode::start);
  const auto record = read_journal(path);
  EXPECT_FALSE(record.complete);
  EXPECT_EQ(record.sessions.size(), 1U);
  ASSERT_EQ(record.points.size(), 4U);
  EXPECT_EQ(std::get<Measured>(record.points[2].outcome).summary.trial_count, 1U);
  EXPECT_TRUE(std::holds_alternative<Skipped>(record.points[1].outcome));
}

}  // namespace
}  // namespace mtuscope::records
