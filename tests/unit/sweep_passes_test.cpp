#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/sweep/runner.hpp"

namespace mtuscope::sweep {
namespace {

/// What a session was asked for, in order.
struct Asked {
  std::uint32_t session = 0;
  Point point;
  std::uint64_t messages = 0;
};

/// A back end without a peer that writes down what it is asked for; a message takes 1 us.
class ListeningBackend final : public Backend {
 public:
  std::vector<Asked> asked;
  std::vector<SessionSpec> opened;
  std::function<bool(const Point&)> fails = [](const Point&) { return false; };

  std::string_view name() const noexcept override { return "listening"; }
  Source source() const noexcept override { return Source::measured; }
  bool needs_peer() const noexcept override { return false; }
  bool deterministic() const noexcept override { return false; }
  std::optional<std::string> refusal(const Point&, const Environment*) const override { return std::nullopt; }
  Environment environment() const override { return {}; }
  std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role, Exchange*) override {
    opened.assign(specs.begin(), specs.end());
    std::vector<std::unique_ptr<Session>> sessions;
    for (std::uint32_t i = 0; i < specs.size(); ++i) sessions.push_back(std::make_unique<Ear>(*this, i));
    return sessions;
  }

 private:
  struct Ear final : Session {
    Ear(ListeningBackend& owner_, std::uint32_t index_) : owner(owner_), index(index_) {}
    TrialReading run(const TrialRequest& request, Watch&) override {
      owner.asked.push_back({index, request.point, request.messages});
      if (owner.fails(request.point)) return failed_reading("it was told to fail");
      TrialReading reading;
      reading.messages = request.messages;
      reading.elapsed_ns = request.messages * 1000;
      return reading;
    }
    MtuProof prove_mtu(Watch&) override { return {}; }
    bool usable() const noexcept override { return true; }
    ListeningBackend& owner;
    std::uint32_t index;
  };
};

struct QuietSink final : Sink {
  std::map<std::size_t, std::vector<Trial>> trials;
  std::function<void()> after_trial = [] {};
  void on_responder(const Environment&) override {}
  void on_session(const SessionRecord&) override {}
  void on_trial(std::size_t i, const Trial& trial) override {
    trials[i].push_back(trial);
    after_trial();
  }
  void on_outcome(std::size_t, const Outcome&) override {}
  void on_progress(const Progress&) override {}
};

WorkingSet blocks(std::uint64_t count) {
  WorkingSet set;
  set.block_count = count;
  set.block_size_bytes = 8192;
  return set;
}

SweepSpec passes_spec() {
  SweepSpec spec;
  spec.connections = {Connection::none};
  spec.path_mtus = {PathMtu::mtu1024, PathMtu::mtu2048};
  spec.message_sizes_bytes = {1024, 2048, 4096};
  spec.working_sets = {blocks(20), blocks(300)};
  spec.passes = {Pass::up, Pass::down};
  spec.tx_depth = 8;
  spec.messages = 77;
  spec.stop.min_trials = spec.stop.max_trials = 3;
  return spec;
}

struct Runs {
  ListeningBackend backend;
  QuietSink sink;
  std::atomic<bool> stop{false};
  RunResult go(const SweepSpec& spec, Resume resume = {}) {
    return run_sweep(spec, {backend, nullptr, sink, stop, std::move(resume), {}});
  }
};

TEST(Passes, GoThroughAllSizesUpAndDownWithNothingBetweenThem) {
  Runs run;
  const auto result = run.go(passes_spec());
  EXPECT_EQ(run.backend.opened.size(), 4U) << "a session for each path MTU and working set";
  const std::vector<std::uint64_t> sizes{1024, 2048, 4096, 4096, 2048, 1024};
  ASSERT_EQ(run.backend.asked.size(), 3U * 4 * 7)
      << "three rounds of four series: a cycle through the blocks, six trials";
  for (std::size_t first = 0; first < run.backend.asked.size(); first += 7) {
    const auto& lead = run.backend.asked[first];
    EXPECT_EQ(lead.messages, lead.point.working_set->block_count) << "before a series, one cycle through its blocks";
    for (std::size_t k = 0; k < 6; ++k) {
      const auto& trial = run.backend.asked[first + 1 + k];
      EXPECT_EQ(trial.messages, 77U);
      EXPECT_EQ(trial.session, lead.session);
      EXPECT_EQ(trial.point.message_size_bytes, sizes[k]);
      EXPECT_EQ(trial.point.pass, k < 3 ? Pass::up : Pass::down);
    }
  }
  for (const auto& outcome : result.outcomes) EXPECT_TRUE(std::holds_alternative<Measured>(outcome));
}

TEST(Passes, ABrokenPassIsNoPassAndTheOthersGoOn) {
  Runs run;
  run.backend.fails = [](const Point& point) {
    return point.path_mtu == PathMtu::mtu1024 && point.working_set->block_count == 20 && point.pass == Pass::down;
  };
  const auto result = run.go(passes_spec());
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const auto& point = result.points[i];
    const bool broken = point.path_mtu == PathMtu::mtu1024 && point.working_set->block_count == 20;
    EXPECT_EQ(std::holds_alternative<Failed>(result.outcomes[i]), broken) << describe(point);
  }
}

TEST(Passes, AResumedPassIsRunWholeAndKeepsOnlyWhatWasMissing) {
  auto spec = passes_spec();
  spec.working_sets = {blocks(20)};
  spec.path_mtus = {PathMtu::mtu1024};
  Runs first;
  first.sink.after_trial = [&, count = 0]() mutable { first.stop = ++count == 8; };
  (void)first.go(spec);
  Resume resume;
  resume.trials.resize(6);
  for (auto& [i, trials] : first.sink.trials) resume.trials[i] = trials;
  Runs second;
  const auto result = second.go(spec, std::move(resume));
  EXPECT_EQ(second.backend.asked.size(), 2U * 7) << "the second series, which was cut short, and the third";
  for (const auto& outcome : result.outcomes) {
    ASSERT_TRUE(std::holds_alternative<Measured>(outcome));
    const auto& trials = std::get<Measured>(outcome).trials;
    std::set<std::uint32_t> rounds;
    for (const auto& trial : trials) rounds.insert(trial.round);
    EXPECT_EQ(trials.size(), 3U);
    EXPECT_EQ(rounds.size(), 3U);
  }
}

TEST(Blocks, EveryTrialFollowsOneCycleThroughThem) {
  auto spec = passes_spec();
  spec.passes.clear();
  spec.path_mtus = {PathMtu::mtu1024};
  spec.message_sizes_bytes = {4096};
  Runs run;
  (void)run.go(spec);
  std::size_t trials = 0;
  for (std::size_t i = 1; i < run.backend.asked.size(); ++i) {
    const auto& before = run.backend.asked[i - 1];
    const auto& now = run.backend.asked[i];
    if (now.messages == 77 && before.messages == now.point.working_set->block_count) ++trials;
  }
  EXPECT_EQ(trials, 2U * 3);
}

std::string complaint(const SweepSpec& spec) {
  try {
    check(spec);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST(Blocks, WhatCannotBeIsRefusedBeforeAnythingIsAllocated) {
  EXPECT_EQ(complaint(passes_spec()), "");
  auto spec = passes_spec();
  spec.working_sets = {blocks(10'000'000)};
  EXPECT_NE(complaint(spec).find("must be between 1 and 1048576"), std::string::npos);
  spec.working_sets = {blocks(0)};
  EXPECT_NE(complaint(spec), "");
  spec.working_sets = {blocks(20)};
  spec.working_sets.front().block_size_bytes = 2048;
  EXPECT_NE(complaint(spec).find("smaller than a message of 4096"), std::string::npos);
  spec.working_sets = {blocks(20)};
  spec.working_sets.front().page_size_bytes = 8192;
  EXPECT_NE(complaint(spec).find("--pages"), std::string::npos);
  spec.working_sets = {blocks(20)};
  spec.working_sets.front().alias_count = 21;
  EXPECT_NE(complaint(spec).find("--alias"), std::string::npos);
  spec.working_sets.front() = blocks(1024);
  spec.working_sets.front().alias_count = 2;
  spec.working_sets.front().page_size_bytes = std::uint64_t{1} << 21U;
  EXPECT_EQ(complaint(spec), "") << "512 blocks of 8 KiB fill two pages of 2 MiB";
  spec.working_sets.front().alias_count = 3;
  EXPECT_NE(complaint(spec).find("fill whole pages"), std::string::npos);
  for (const auto spoil :
       {+[](SweepSpec& s) { s.patterns = {Pattern::ping_pong}; }, +[](SweepSpec& s) { s.qp_count = 2; },
        +[](SweepSpec& s) { s.inline_bytes = 64; }, +[](SweepSpec& s) { s.messages.reset(); }}) {
    spec = passes_spec();
    spoil(spec);
    EXPECT_NE(complaint(spec), "");
  }
}

TEST(Blocks, ChangeThePlan) {
  const auto spec = passes_spec();
  auto other = spec;
  other.working_sets.back().order = ReuseOrder::lifo;
  EXPECT_NE(plan_hash(spec), plan_hash(other));
  other = spec;
  other.passes = {Pass::up};
  EXPECT_NE(plan_hash(spec), plan_hash(other));
}

}  // namespace
}  // namespace mtuscope::sweep
