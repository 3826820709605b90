/// What every back end without a peer must do, whatever it is made of. Back ends with a peer are held to the same
/// sentences in the guest (tests/guest), where there is a device.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "mtuscope/memory/floor_backend.hpp"
#include "mtuscope/model/backend.hpp"
#include "mtuscope/sweep/runner.hpp"

namespace mtuscope {
namespace {

struct Candidate {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
};

class PeerlessBackend : public testing::TestWithParam<Candidate> {};

struct NoSink final : sweep::Sink {
  void on_responder(const Environment& /*responder*/) override {}
  void on_session(const sweep::SessionRecord& /*session*/) override {}
  void on_trial(std::size_t /*i*/, const Trial& /*trial*/) override {}
  void on_outcome(std::size_t /*i*/, const Outcome& /*outcome*/) override {}
  void on_progress(const sweep::Progress& /*progress*/) override {}
};

sweep::SweepSpec spec_of(Connection connection) {
  sweep::SweepSpec spec;
  spec.connections = {connection};
  spec.path_mtus = {PathMtu::mtu1024, PathMtu::mtu2048};
  spec.message_sizes_bytes = {1, 1023, 1024, 1025, 65536};
  spec.trial_time_ns = 200'000;
  return spec;
}

sweep::RunResult run(Backend& backend, const sweep::SweepSpec& spec) {
  NoSink sink;
  const std::atomic<bool> never{false};
  Environment environment = backend.environment();
  return sweep::run_sweep(
      spec,
      {.backend = backend, .exchange = nullptr, .sink = sink, .stop = never, .resume = {}, .environment = environment});
}

TEST_P(PeerlessBackend, GivesItsOwnNameAndNeedsNobody) {
  const auto backend = GetParam().make();
  EXPECT_EQ(backend->name(), GetParam().name);
  EXPECT_FALSE(backend->needs_peer());
}

TEST_P(PeerlessBackend, MeasuresStreamsWithNumbersThatAgree) {
  const auto backend = GetParam().make();
  const auto result = run(*backend, spec_of(Connection::rc));
  ASSERT_EQ(result.points.size(), 10U);
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const auto& measured = std::get<Measured>(result.outcomes[i]);
    ASSERT_TRUE(measured.summary.bandwidth_bytes_per_s.has_value());
    ASSERT_TRUE(measured.summary.message_rate_per_s.has_value());
    const auto bytes = static_cast<double>(result.points[i].message_size_bytes);
    EXPECT_NEAR(measured.summary.bandwidth_bytes_per_s->value / (measured.summary.message_rate_per_s->value * bytes),
                1.0, 1e-9);
    for (const auto& trial : measured.trials) {
      EXPECT_GT(trial.elapsed_ns, 0U);
      EXPECT_GT(trial.messages, 0U);
    }
    EXPECT_EQ(measured.summary.exact, backend->deterministic());
    EXPECT_EQ(measured.summary.trial_count, backend->deterministic() ? 1U : measured.trials.size());
  }
}

TEST_P(PeerlessBackend, RefusesWhatItCannotDoInASentence) {
  const auto backend = GetParam().make();
  auto spec = spec_of(Connection::rc);
  spec.patterns = {Pattern::ping_pong, Pattern::bidirectional};
  for (const auto& outcome : run(*backend, spec).outcomes) {
    EXPECT_GT(std::get<Skipped>(outcome).reason.size(), 20U);
  }
}

TEST_P(PeerlessBackend, RepeatsExactlyIfItSaysSo) {
  const auto backend = GetParam().make();
  if (!backend->deterministic()) return;  // nothing is claimed, so nothing is checked
  const auto first = run(*backend, spec_of(Connection::rc));
  const auto second = run(*backend, spec_of(Connection::rc));
  for (std::size_t i = 0; i < first.outcomes.size(); ++i) {
    EXPECT_EQ(std::get<Measured>(first.outcomes[i]).trials.front().elapsed_ns,
              std::get<Measured>(second.outcomes[i]).trials.front().elapsed_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PeerlessBackend,
                         testing::Values(Candidate{"null", [] { return memory::make_null(); }},
                                         Candidate{"memset", [] { return memory::make_memset(); }},
                                         Candidate{"model:tavor", [] { return model::make_model("model:tavor"); }},
                                         Candidate{"model:tavor5", [] { return model::make_model("model:tavor5"); }}),
                         [](const auto& candidate) {
                           std::string name = candidate.param.name;
                           for (auto& c : name) c = c == ':' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace mtuscope
