#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/launch/runner.hpp"
#include "mtuscope/records/json.hpp"
#include "mtuscope/sweep/planner.hpp"

namespace mtuscope::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

struct SilentSink final : sweep::Sink {
  std::map<std::size_t, Outcome> outcomes;
  std::vector<std::size_t> order;
  void on_responder(const Environment& /*responder*/) override {}
  void on_session(const sweep::SessionRecord& /*session*/) override {}
  void on_trial(std::size_t i, const Trial& /*trial*/) override { order.push_back(i); }
  void on_outcome(std::size_t i, const Outcome& outcome) override { outcomes.emplace(i, outcome); }
  void on_progress(const sweep::Progress& /*progress*/) override {}
};

Trial trial(std::uint32_t round, std::uint64_t order) {
  Trial result;
  result.round = round;
  result.order = order;
  result.messages = 100;
  result.elapsed_ns = 1000 + round;
  return result;
}

/// A launcher that is a shell script: it notes its path MTU and sizes, and prints the record that was laid ready.
class Launched : public ::testing::Test {
 protected:
  Launched() : folder(fs::path{::testing::TempDir()} / ("launched_" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
    spec.connections = {Connection::mpi};
    spec.path_mtus = {PathMtu::mtu1024, PathMtu::mtu2048};
    spec.message_sizes_bytes = {64, 4096};
    spec.stop = {.relative_interval = 0.01, .min_trials = 4, .arrangements = 2, .max_trials = 4, .max_time_ns = 0};
    for (const auto mtu : spec.path_mtus) write_record(mtu);
    launcher.command = {"sh", "-c", script("cat $mtu.json")};
    launcher.program = "mtuscope-mpi";
    launcher.options = {"--pattern", "stream"};
    launcher.knob = find_knob("ucx");
    launcher.timeout_ns = 60'000'000'000U;
  }
  ~Launched() override { fs::remove_all(folder); }

  /// `$mtu` is the path MTU of the launch.
  [[nodiscard]] std::string script(const std::string& end) const {
    return "cd " + folder.string() + R"(; for a; do case $p in --mtu) mtu=$a;; --size) sizes=$a;; --env) env=$a;; esac
p=$a; done; echo "$mtu $sizes $env" >>log; )" +
           end;
  }

  /// What one launch at `path_mtu` would print: two rounds, the sizes taking turns.
  void write_record(
      PathMtu path_mtu, const std::string& second_host = "b",
      const std::function<void(sweep::SweepSpec&)>& change = [](sweep::SweepSpec&) {}) const {
    auto one = spec;
    one.path_mtus = {path_mtu};
    one.stop.arrangements = 1;
    one.stop.min_trials = one.stop.max_trials = 2;
    change(one);
    records::ResultSet record;
    record.header.backend = "mpi";
    record.header.created_utc = "2026-01-01T00:00:00Z";
    record.header.spec = one;
    record.header.initiator = Environment{};
    record.header.responder = Environment{};
    record.header.responder->host.hostname = second_host;
    MtuProof proof;
    proof.asked = path_mtu;
    proof.reason = "counted";
    record.sessions.push_back({.arrangement = 0, .connection = Connection::mpi, .proof = proof});
    std::uint64_t order = 0;
    for (auto& point : sweep::plan_points(one)) record.points.push_back({std::move(point), Measured{}});
    for (std::uint32_t round = 0; round < 2; ++round) {
      for (auto& [point, outcome] : record.points) {
        std::get<Measured>(outcome).trials.push_back(trial(round, order++));
      }
    }
    for (auto& [point, outcome] : record.points) {
      auto& measured = std::get<Measured>(outcome);
      measured.summary = sweep::summarise(point, measured.trials, false);
      measured.session = 0;
    }
    std::ofstream file{folder / (std::to_string(to_bytes(path_mtu)) + ".json")};
    records::write_record(file, record);
  }

  sweep::RunResult run(sweep::Resume resume = {}) {
    const auto backend = make_launched_mpi();
    return run_launched(
        spec, {.backend = *backend, .sink = sink, .stop = stop, .resume = std::move(resume), .environment = {}},
        launcher);
  }

  [[nodiscard]] std::vector<std::string> launches() const {
    std::ifstream log{folder / "log"};
    std::vector<std::string> lines;
    for (std::string line; std::getline(log, line);) lines.push_back(line);
    return lines;
  }

  fs::path folder;
  sweep::SweepSpec spec;
  Launcher launcher;
  SilentSink sink;
  std::atomic<bool> stop{false};
  std::string logged;
};

TEST_F(Launched, OncePerArrangementAndPathMtuInTheOrderABBA) {
  const auto result = run();
  EXPECT_THAT(launches(), ElementsAre("1024 64,4096 UCX_IB_PATH_MTU=1024", "2048 64,4096 UCX_IB_PATH_MTU=2048",
                                      "2048 64,4096 UCX_IB_PATH_MTU=2048", "1024 64,4096 UCX_IB_PATH_MTU=1024"));
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.responder->host.hostname, "b");
  ASSERT_EQ(result.outcomes.size(), 4U);
  for (const auto& outcome : result.outcomes) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> numbers;
    for (const auto& trial : std::get<Measured>(outcome).trials) numbers.emplace_back(trial.arrangement, trial.round);
    EXPECT_THAT(numbers, ElementsAre(std::pair{0U, 0U}, std::pair{0U, 1U}, std::pair{1U, 2U}, std::pair{1U, 3U}));
  }
  ASSERT_EQ(result.sessions.size(), 4U);
  EXPECT_EQ(result.sessions[2].arrangement, 1U);
  EXPECT_EQ(result.sessions[0].proof.setting, "UCX_IB_PATH_MTU=1024");
  EXPECT_EQ(result.sessions[0].proof.reason, "counted");
  // The trials of a launch come in the order in which it ran them: the sizes took turns.
  EXPECT_THAT(std::vector(sink.order.begin(), sink.order.begin() + 4), ElementsAre(0, 2, 0, 2));
}

TEST_F(Launched, ALaunchThatFailsEndsItsPathMtuOnlyAndSaysWhatTheLauncherSaid) {
  launcher.command[2] = script(R"([ $mtu = 1024 ] && exec cat $mtu.json
[ -e once ] && { echo "ssh: node7 unreachable" >&2; exit 1; }; touch once; cat $mtu.json)");
  const auto result = run();
  EXPECT_EQ(launches().size(), 4U);
  EXPECT_FALSE(result.interrupted);
  EXPECT_THAT(result.gave_up_reason.value_or(""), HasSubstr("node7 unreachable"));
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const bool broken = result.points[i].path_mtu == PathMtu::mtu2048;
    const auto& measured = std::get<Measured>(result.outcomes[i]);
    EXPECT_EQ(measured.trials.size(), broken ? 2U : 4U);
    EXPECT_EQ(measured.note.find("a launch failed") != std::string::npos, broken) << measured.note;
    EXPECT_EQ(sink.outcomes.contains(i), !broken);  // a resumed run takes it up again
  }
}

TEST_F(Launched, NothingThatWorksIsAnError) {
  launcher.command[2] = "echo 'There are not enough slots' >&2; exit 1";
  EXPECT_THROW((void)run(), RunError);
  launcher.command[2] = "cat";  // a launcher that prints no record
  EXPECT_THROW((void)run(), RunError);
}

TEST_F(Launched, AResumedRunLaunchesWhatIsMissing) {
  sweep::Resume resume;
  resume.trials.resize(4);
  const auto points = sweep::plan_points(spec);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint32_t rounds = points[i].path_mtu == PathMtu::mtu1024 ? 2 : 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      resume.trials[i].push_back(trial(round, round));
    }
  }
  const auto result = run(std::move(resume));
  EXPECT_EQ(launches().size(), 3U);
  EXPECT_EQ(launches().front(), "2048 64,4096 UCX_IB_PATH_MTU=2048");
  for (const auto& outcome : result.outcomes) EXPECT_EQ(std::get<Measured>(outcome).trials.size(), 4U);
}

TEST_F(Launched, OtherHostsAreNotMixedIn) {
  write_record(PathMtu::mtu2048, "c");
  const auto result = run();
  EXPECT_TRUE(result.gave_up_reason);
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    if (result.points[i].path_mtu != PathMtu::mtu2048) continue;
    EXPECT_THAT(std::get<Failed>(result.outcomes[i]).reason, HasSubstr("let --launcher name the hosts"));
  }
}

TEST_F(Launched, ADamagedRecordOrOneOfAnotherPlanIsAFailedLaunch) {
  launcher.command[2] = script("[ $mtu = 1024 ] && exec cat $mtu.json; head -c 2000 $mtu.json");
  EXPECT_THAT(std::get<Failed>(run().outcomes[1]).reason, HasSubstr("not valid JSON"));
}

TEST_F(Launched, NumbersOfAnotherPlanAreNotTaken) {
  const auto refused = [this](const std::function<void(sweep::SweepSpec&)>& change) {
    write_record(PathMtu::mtu2048, "b", change);
    const auto result = run();
    const auto* failed = std::get_if<Failed>(&result.outcomes[1]);
    return failed == nullptr ? std::string{"taken"} : failed->reason;
  };
  EXPECT_THAT(refused([](auto& other) { other.tx_depth = 8; }), HasSubstr("another plan (tx_depth: 8 -> 128)"));
  EXPECT_THAT(refused([](auto& other) { other.header_bytes = 50; }), HasSubstr("header_bytes"));
  EXPECT_THAT(refused([](auto& other) { other.patterns = {Pattern::ping_pong}; }), HasSubstr("patterns"));
  EXPECT_THAT(refused([](auto& other) { other.stop.max_trials = 3; }), HasSubstr("another plan"));
  EXPECT_THAT(refused([](auto& other) { other.seed = 7; }), HasSubstr("seed"));
  // Ranks decide by their own CPUs how they wait.
  EXPECT_EQ(refused([](auto& other) { other.wait_mode = WaitMode::yield; }), "taken");
}

TEST_F(Launched, WhatALauncherPrintsAroundTheRecordIsNotTheRecord) {
  launcher.command[2] = script("echo 'Job 7 started'; cat $mtu.json; echo 'Job 7 ended'; exit 9");
  const auto result = run();
  for (const auto& outcome : result.outcomes) EXPECT_EQ(std::get<Measured>(outcome).trials.size(), 4U);
  EXPECT_FALSE(result.gave_up_reason);
}

TEST_F(Launched, TheLastWordsAreThoseOfOutputWhereThereAreNoErrors) {
  launcher.command[2] = "echo 'srun: no such partition'; exit 1";
  set_log_sink([this](LogLevel, std::string_view message) { logged += message; });
  EXPECT_THROW((void)run(), RunError);
  EXPECT_THAT(logged, HasSubstr("its last words: srun: no such partition"));
  logged.clear();
  launcher.command[2] = "i=0; while [ $i -lt 3000 ]; do printf long >&2; i=$((i+1)); done; exit 2";
  EXPECT_THROW((void)run(), RunError);
  set_log_sink({});
  EXPECT_LT(logged.size(), 2 * 2000U);
  EXPECT_THAT(logged, HasSubstr("a rank refused its options"));
}

TEST_F(Launched, AResumedRunKeepsItsSetting) {
  sweep::Resume resume;
  resume.sessions.emplace_back();
  resume.sessions.back().proof.asked = PathMtu::mtu1024;
  resume.sessions.back().proof.setting = "UCX_UD_VERBS_SEG_SIZE=1024";
  EXPECT_THROW((void)run(resume), ConfigError);
  resume.sessions.back().proof.setting = "UCX_IB_PATH_MTU=1024";
  EXPECT_NO_THROW((void)run(resume));
}

TEST_F(Launched, ALaunchThatHangsIsEndedAtItsDeadline) {
  launcher.command[2] = "exec sleep 1000";
  launcher.timeout_ns = 0;
  set_log_sink([this](LogLevel, std::string_view message) { logged += message; });
  EXPECT_THROW((void)run(), RunError);
  set_log_sink({});
  EXPECT_THAT(logged, HasSubstr("--launch-timeout"));
}

}  // namespace
}  // namespace mtuscope::launch
