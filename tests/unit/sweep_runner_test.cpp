#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/transport/local_exchange.hpp"
#include "scripted_backend.hpp"

namespace mtuscope::sweep {
namespace {

using test::Script;
using test::ScriptedBackend;

struct RecordingSink final : Sink {
  std::optional<Environment> responder;
  std::vector<SessionRecord> sessions;
  std::map<std::size_t, std::vector<Trial>> trials;
  std::map<std::size_t, Outcome> outcomes;
  std::vector<std::size_t> order;
  std::function<void()> after_trial = [] {};
  void on_responder(const Environment& environment) override { responder = environment; }
  void on_session(const SessionRecord& session) override { sessions.push_back(session); }
  void on_trial(std::size_t i, const Trial& trial) override {
    trials[i].push_back(trial);
    order.push_back(i);
    after_trial();
  }
  void on_outcome(std::size_t i, const Outcome& outcome) override { outcomes.emplace(i, outcome); }
  Progress progress;
  void on_progress(const Progress& now) override { progress = now; }
};

SweepSpec small_spec() {
  SweepSpec spec;
  spec.path_mtus = {PathMtu::mtu1024, PathMtu::mtu2048};
  spec.message_sizes_bytes = {64, 1024, 4096};
  spec.timeout_ns = 5'000'000'000U;
  return spec;
}

/// A loopback run against a responder thread.
struct Loopback {
  Script script;
  RecordingSink sink;
  std::atomic<bool> stop{false};

  RunResult run(const SweepSpec& spec, Resume resume = {}) {
    auto [mine, theirs] = make_local_exchange();
    ScriptedBackend initiator{script};
    ScriptedBackend responder{script};
    const Environment environment{};
    const std::atomic<bool> never{false};
    std::thread thread{[&, exchange = std::move(theirs)]() mutable {
      respond(responder, *exchange, environment, never);
      exchange.reset();
    }};
    struct Join {
      std::unique_ptr<Exchange>& exchange;
      std::thread& thread;
      ~Join() {
        exchange.reset();
        thread.join();
      }
    } const join{mine, thread};
    return run_sweep(spec, {.backend = initiator,
                            .exchange = mine.get(),
                            .sink = sink,
                            .stop = stop,
                            .resume = std::move(resume),
                            .environment = environment});
  }
};

const Measured& measured(const Outcome& outcome) { return std::get<Measured>(outcome); }

TEST(RunSweep, MeasuresEveryPointOverThreeArrangements) {
  Loopback loopback;
  const auto result = loopback.run(small_spec());
  ASSERT_EQ(result.outcomes.size(), 6U);
  for (const auto& outcome : result.outcomes) {
    const auto& point = measured(outcome);
    EXPECT_EQ(point.summary.trial_count, 9U);  // 8 rounded up to 3 arrangements of 3
    EXPECT_EQ(point.summary.arrangement_count, 3U);
    ASSERT_TRUE(point.summary.bandwidth_bytes_per_s.has_value());
    ASSERT_TRUE(point.summary.bandwidth_bytes_per_s->low.has_value());
  }
  EXPECT_NEAR(measured(result.outcomes[0]).summary.bandwidth_bytes_per_s->value, 64e6, 1e3);
  EXPECT_EQ(loopback.script.opens, 3U);
  EXPECT_EQ(result.sessions.size(), 6U);
  EXPECT_FALSE(result.interrupted);
}

TEST(RunSweep, AlternatesTheMtusOfASize) {
  Loopback loopback;
  (void)loopback.run(small_spec());
  const auto& order = loopback.sink.order;
  ASSERT_EQ(order.size(), 54U);
  for (std::size_t i = 0; i < order.size(); i += 2) {
    EXPECT_EQ(order[i] / 2, order[i + 1] / 2);
    const bool backwards = (i / 6) % 2 == 1;
    EXPECT_EQ(order[i] % 2, backwards ? 1U : 0U);
  }
}

TEST(RunSweep, GoesOnUntilTheIntervalIsNarrowOrTrialsRunOut) {
  Loopback loopback;
  loopback.script.noise = 0.2;
  auto spec = small_spec();
  spec.stop.max_trials = 15;
  const auto result = loopback.run(spec);
  for (const auto& outcome : result.outcomes) {
    EXPECT_EQ(measured(outcome).trials.size(), 15U);
    EXPECT_NE(measured(outcome).note.find("--max-trials"), std::string::npos);
  }
}

TEST(RunSweep, RefusedPointsAreSkippedWithTheReason) {
  Loopback loopback;
  loopback.script.refusal = [](const Point& point) -> std::optional<std::string> {
    if (point.path_mtu == PathMtu::mtu2048) return "too large for this link";
    return std::nullopt;
  };
  const auto result = loopback.run(small_spec());
  EXPECT_EQ(std::get<Skipped>(result.outcomes[1]).reason, "too large for this link");
  EXPECT_EQ(measured(result.outcomes[0]).summary.trial_count, 9U);
  EXPECT_EQ(result.sessions.size(), 3U);
}

TEST(RunSweep, OneFailedPointDoesNotEndTheSweepAndABrokenSessionIsOpenedAnew) {
  Loopback loopback;
  loopback.script.failure_breaks_session = true;
  loopback.script.failure = [](const Point& point, std::uint64_t) -> std::optional<std::string> {
    if (point.message_size_bytes == 1024 && point.path_mtu == PathMtu::mtu2048)
      return "transport retry counter exceeded";
    return std::nullopt;
  };
  const auto result = loopback.run(small_spec());
  EXPECT_NE(std::get<Failed>(result.outcomes[3]).reason.find("retry counter"), std::string::npos);
  for (const std::size_t i : {0U, 1U, 2U, 4U, 5U}) EXPECT_EQ(measured(result.outcomes[i]).trials.size(), 9U);
  EXPECT_EQ(loopback.script.opens, 4U);
}

TEST(RunSweep, SessionsOpenedAnewAreAnotherArrangementAndWarmedAgain) {
  Loopback loopback;
  loopback.script.failure_breaks_session = true;
  std::map<std::uint64_t, std::vector<std::uint64_t>> opens_of_trials;  // by message size, warm-ups included
  bool failed = false;
  loopback.script.failure = [&](const Point& point, std::uint64_t) -> std::optional<std::string> {
    if (point.path_mtu == PathMtu::mtu1024) opens_of_trials[point.message_size_bytes].push_back(loopback.script.opens);
    if (failed || loopback.sink.order.size() != 4) return std::nullopt;
    failed = true;
    opens_of_trials.erase(point.message_size_bytes);
    return "transport retry counter exceeded";
  };
  const auto result = loopback.run(small_spec());
  ASSERT_EQ(loopback.script.opens, 4U);
  std::size_t after_reopening = 0;
  for (const auto& outcome : result.outcomes) {
    const auto* point = std::get_if<Measured>(&outcome);
    if (point == nullptr) continue;
    for (const auto& trial : point->trials) {
      EXPECT_EQ(trial.arrangement, trial.order < 4 ? 0 : trial.round / 3 + 1);
      after_reopening += trial.order >= 4 && trial.round == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(after_reopening, 1U);
  for (const auto& [size, opens] : opens_of_trials) {
    const auto in_second = std::count(opens.begin(), opens.end(), 2U);
    // Two rounds are left after the reopening, or three; a warm-up comes before them.
    EXPECT_GT(in_second, 2) << size;
  }
}

TEST(RunSweep, AReopeningThatFailsKeepsWhatWasFound) {
  Loopback loopback;
  loopback.script.failure_breaks_session = true;
  loopback.script.failure = [&](const Point&, std::uint64_t) -> std::optional<std::string> {
    loopback.script.open_error = "no memory";
    return "transport retry counter exceeded";
  };
  const auto result = loopback.run(small_spec());
  std::map<std::string, int> reasons;
  for (const auto& outcome : result.outcomes) ++reasons[std::get<Failed>(outcome).reason];
  EXPECT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons["transport retry counter exceeded"], 1);
}

TEST(RunSweep, NothingOpensAtAllIsAnErrorWithThePeersWords) {
  Loopback loopback;
  loopback.script.open_error = "memlock is 64 KiB";
  try {
    (void)loopback.run(small_spec());
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_NE(std::string{error.what()}.find("memlock is 64 KiB"), std::string::npos);
  }
}

TEST(RunSweep, InterruptedKeepsWhatIsThereAndResumeCompletesExactlyTheRest) {
  const auto spec = small_spec();
  Loopback whole;
  const auto full = whole.run(spec);

  Loopback first;
  std::size_t seen = 0;
  first.sink.after_trial = [&] { first.stop = ++seen == 20; };
  const auto part = first.run(spec);
  EXPECT_TRUE(part.interrupted);

  Resume resume;
  resume.trials.resize(part.points.size());
  resume.outcomes.resize(part.points.size());
  for (const auto& [i, trials] : first.sink.trials) resume.trials[i] = trials;
  Loopback second;
  const auto rest = second.run(spec, std::move(resume));
  EXPECT_FALSE(rest.interrupted);
  std::size_t added = 0;
  for (const auto& [i, trials] : second.sink.trials) added += trials.size();
  EXPECT_EQ(added, 54U - 20U);
  EXPECT_EQ(second.sink.progress.trials_before, 20U);
  EXPECT_EQ(second.sink.progress.trials_done, 54U);
  EXPECT_EQ(second.sink.progress.trials_expected, 54U);
  for (std::size_t i = 0; i < full.outcomes.size(); ++i) {
    EXPECT_EQ(measured(full.outcomes[i]).summary.bandwidth_bytes_per_s->value,
              measured(rest.outcomes[i]).summary.bandwidth_bytes_per_s->value);
    EXPECT_EQ(measured(rest.outcomes[i]).trials.size(), 9U);
  }
  for (const auto& [i, trials] : second.sink.trials) {
    for (const auto& trial : trials) EXPECT_GT(trial.arrangement, first.sink.trials[i].back().arrangement);
  }
}

TEST(RunSweep, AResumedRunKeepsTheSessionsItsFinishedPointsRanIn) {
  auto spec = small_spec();
  Loopback first;
  const auto whole = first.run(spec);
  Resume resume;
  resume.sessions = first.sink.sessions;
  for (const auto& outcome : whole.outcomes) {
    resume.trials.push_back(measured(outcome).trials);
    resume.outcomes.emplace_back(outcome);
  }
  resume.trials.back().clear();  // one point is left to be measured
  resume.outcomes.back().reset();
  Loopback second;
  const auto rest = second.run(spec, std::move(resume));
  EXPECT_EQ(rest.sessions.size(), 6U + 3U);
  for (std::size_t i = 0; i < rest.outcomes.size(); ++i) {
    const auto session = measured(rest.outcomes[i]).session;
    ASSERT_TRUE(session && *session < rest.sessions.size());
    EXPECT_EQ(rest.sessions[*session].proof.asked, rest.points[i].path_mtu);
  }
}

TEST(RunSweep, ResumesWithTheSamePeerOnly) {
  Loopback loopback;
  (void)loopback.run(small_spec());
  ASSERT_TRUE(loopback.sink.responder);
  Resume resume;
  resume.responder = loopback.sink.responder;
  resume.responder->host.hostname = "node8";
  try {
    (void)loopback.run(small_spec(), resume);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string{error.what()}.find("node8"), std::string::npos);
  }
}

TEST(RunSweep, TakesNoTrialAboveTheMost) {
  Loopback loopback;
  auto spec = small_spec();
  spec.stop.max_trials = 8;
  const auto result = loopback.run(spec);
  for (const auto& outcome : result.outcomes) {
    EXPECT_EQ(measured(outcome).trials.size(), 8U);
    EXPECT_EQ(measured(outcome).summary.arrangement_count, 3U);
  }
}

TEST(RunSweep, MaxTimeIsSaidAtThePointsItCutShort) {
  Loopback loopback;
  auto spec = small_spec();
  spec.stop.max_time_ns = 1;
  const auto result = loopback.run(spec);
  EXPECT_FALSE(result.interrupted);
  EXPECT_NE(std::get<Skipped>(result.outcomes[0]).reason.find("--max-time"), std::string::npos);
}

TEST(RunSweep, ALostPeerKeepsFinishedTrialsAndIsNoOutcomeForTheJournal) {
  Loopback loopback;
  loopback.script.responder_dies_at = 40;
  const auto result = loopback.run(small_spec());
  ASSERT_TRUE(result.lost_reason);
  EXPECT_NE(result.lost_reason->find("killed"), std::string::npos);
  std::size_t kept = 0;
  for (const auto& outcome : result.outcomes) {
    EXPECT_EQ(measured(outcome).note.find("ended with the peer after trial "), 0U);
    kept += measured(outcome).trials.size();
  }
  EXPECT_GT(kept, 0U);
  EXPECT_EQ(kept, loopback.sink.order.size());
  EXPECT_TRUE(loopback.sink.outcomes.empty());
}

TEST(RunSweep, APeerLostBeforeAnyTrialFailsThePointsWithTheReason) {
  Loopback loopback;
  loopback.script.responder_dies_at = 2;
  const auto result = loopback.run(small_spec());
  for (const auto& outcome : result.outcomes) EXPECT_EQ(std::get<Failed>(outcome).reason, result.lost_reason);
}

TEST(RunSweep, MeasuresMpiWithoutAStatedPathMtuAndProvesNone) {
  auto spec = small_spec();
  spec.connections = {Connection::mpi};
  spec.path_mtus = {};
  Loopback loopback;
  const auto result = loopback.run(spec);
  ASSERT_EQ(result.points.size(), spec.message_sizes_bytes.size());
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    EXPECT_FALSE(result.points[i].path_mtu.has_value());
    ASSERT_TRUE(std::holds_alternative<Measured>(result.outcomes[i]));
    EXPECT_FALSE(measured(result.outcomes[i]).session.has_value());
  }
  EXPECT_TRUE(result.sessions.empty());
  spec.connections = {Connection::mpi, Connection::rc};
  EXPECT_THROW(loopback.run(spec), ConfigError);
}

}  // namespace
}  // namespace mtuscope::sweep
