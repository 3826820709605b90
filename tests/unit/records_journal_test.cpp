#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

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

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    spec_.path_mtus = {PathMtu::mtu1024, PathMtu::mtu2048};
    spec_.message_sizes_bytes = {512, 4096};
    points_ = sweep::plan_points(spec_);
    header_.spec = spec_;
    header_.backend = "null";
    const auto name = testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = journal_path((fs::path(testing::TempDir()) / (std::string("mtuscope_") + name)).string());
    fs::remove(path_);
  }
  ~JournalTest() override { fs::remove(path_); }

  /// Three trials of point 0 and its outcome, one trial of point 2, point 3 skipped.
  void write_part(Journal::Mode mode) {
    Journal journal(path_, mode, header_, points_);
    journal.on_session({});
    for (std::uint32_t round = 0; round < 3; ++round) journal.on_trial(0, trial(round));
    journal.on_trial(2, trial(0));
    journal.on_outcome(3, Skipped{"too large"});
    Measured measured;
    measured.summary.trial_count = 3;
    journal.on_outcome(0, measured);
  }
  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

  sweep::SweepSpec spec_;
  std::vector<Point> points_;
  RecordHeader header_;
  std::string path_;
};

TEST_F(JournalTest, GivesBackWhatHadBeenMeasured) {
  write_part(Journal::Mode::start);
  const auto resume = load_journal(path_, spec_, points_);
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
  Journal(path_, Journal::Mode::start, header_, points_).on_trial(1, timed);
  const auto resume = load_journal(path_, spec_, points_);
  ASSERT_NE(resume.trials[1].at(0).latency, nullptr);
  EXPECT_EQ(resume.trials[1][0].latency->count(), 3U);
  EXPECT_EQ(resume.trials[1][0].latency->max_ns(), 123'456U);
}

TEST_F(JournalTest, ATornLastLineIsDroppedWhereverItWasTorn) {
  write_part(Journal::Mode::start);
  const auto whole = fs::file_size(path_);
  const std::string line = R"({"point":2,"trial":{"arrangement":0,"round":1,"order":9,"messages":1,"elapsed_ns":1}})";
  for (std::size_t length = 1; length <= line.size(); ++length) {
    append(line.substr(0, length));
    EXPECT_EQ(load_journal(path_, spec_, points_).trials[2].size(), 1U) << length;
    fs::resize_file(path_, whole);
  }
  append(line + "\n");
  EXPECT_EQ(load_journal(path_, spec_, points_).trials[2].size(), 2U);
}

TEST_F(JournalTest, ContinuesAfterATornLine) {
  write_part(Journal::Mode::start);
  append("{\"point\":2,\"tri");
  Journal(path_, Journal::Mode::resume, header_, points_).on_trial(2, trial(1));
  EXPECT_EQ(load_journal(path_, spec_, points_).trials[2].size(), 2U);
}

TEST_F(JournalTest, RefusesAnotherPlanAndSaysInWhatItDiffers) {
  write_part(Journal::Mode::start);
  auto other = spec_;
  other.tx_depth = 64;
  try {
    (void)load_journal(path_, other, sweep::plan_points(other));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tx_depth: 128 -> 64"));
  }
}

TEST_F(JournalTest, DamageInTheMiddleNamesTheLine) {
  write_part(Journal::Mode::start);
  append("{\"point\":99,\"trial\":{}}\n");
  try {
    (void)load_journal(path_, spec_, points_);
    FAIL();
  } catch (const SchemaError& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 9"));
    EXPECT_EQ(error.json_path(), "/point");
  }
}

TEST_F(JournalTest, IsNotOverwrittenByANewRun) {
  write_part(Journal::Mode::start);
  EXPECT_THROW(write_part(Journal::Mode::start), ConfigError);
  EXPECT_EQ(load_journal(path_, spec_, points_).trials[0].size(), 3U);
  Journal(path_, Journal::Mode::resume, header_, points_).discard();
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_THROW((void)load_journal(path_, spec_, points_), ConfigError);
}

/// Files may not grow beyond `bytes` while this lives: write(2) fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uintmax_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{static_cast<rlim_t>(bytes), old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int);
  rlimit old_limit_{};
};

TEST_F(JournalTest, AFullDiskLosesNothingThatWasWritten) {
  write_part(Journal::Mode::start);
  const auto whole = fs::file_size(path_);
  Journal journal(path_, Journal::Mode::resume, header_, points_);
  std::string message;
  {
    const FileSizeLimit limit(whole + 20);
    try {
      journal.on_trial(2, trial(1));
    } catch (const RunError& error) {
      message = error.what();
    }
  }
  EXPECT_THAT(message, HasSubstr(path_));
  EXPECT_EQ(fs::file_size(path_), whole) << "half a line stayed";
  journal.on_trial(2, trial(1));
  EXPECT_EQ(load_journal(path_, spec_, points_).trials[2].size(), 2U);
}

TEST_F(JournalTest, IsARegularFile) {
  EXPECT_THROW(Journal("/dev/full", Journal::Mode::resume, header_, points_), ConfigError);
}

TEST_F(JournalTest, OfAKilledRunReadsAsAnIncompleteRecord) {
  write_part(Journal::Mode::start);
  const auto record = read_journal(path_);
  EXPECT_FALSE(record.complete);
  EXPECT_EQ(record.sessions.size(), 1U);
  ASSERT_EQ(record.points.size(), 4U);
  EXPECT_EQ(std::get<Measured>(record.points[2].outcome).summary.trial_count, 1U);
  EXPECT_TRUE(std::holds_alternative<Skipped>(record.points[1].outcome));
}

}  // namespace
}  // namespace mtuscope::records
