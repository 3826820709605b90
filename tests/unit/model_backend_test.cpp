#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "mtuscope/core/error.hpp"
#include "mtuscope/model/backend.hpp"

namespace mtuscope::model {
namespace {

using ::testing::HasSubstr;

class GoOn final : public Watch {
 public:
  WatchVerdict check(bool /*progressed*/) noexcept override { return WatchVerdict::go_on; }
};

Point mpi_point(std::uint64_t message_size_bytes, PathMtu path_mtu) {
  Point point;
  point.connection = Connection::mpi;
  point.path_mtu = path_mtu;
  point.message_size_bytes = message_size_bytes;
  point.header_bytes = 50;
  return point;
}

std::unique_ptr<Session> open_one(Backend& backend, const SessionSpec& spec) {
  return std::move(backend.open(std::array{spec}, Role::initiator, nullptr).front());
}

TrialReading run(const Point& point, std::uint64_t messages, std::uint64_t slice_messages = 0,
                 const SessionSpec& spec = {}) {
  const auto backend = make_model("model:tavor");
  GoOn watch;
  return open_one(*backend, spec)->run({.point = point, .messages = messages, .slice_messages = slice_messages}, watch);
}

TEST(ModelBackend, SaysWhatItIs) {
  for (const auto name : model_names()) {
    const auto backend = make_model(name);
    EXPECT_EQ(backend->name(), name);
    EXPECT_EQ(backend->source(), Source::model);
    EXPECT_FALSE(backend->needs_peer());
    EXPECT_TRUE(backend->deterministic());
    EXPECT_FALSE(backend->environment().device);
  }
}

TEST(ModelBackend, UnknownNameNamesTheKnown) {
  for (const auto* name : {"model:arbel", "tavor", ""}) {
    try {
      (void)make_model(name);
      FAIL() << name;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("model:tavor, model:tavor5, model:lanai9"));
      EXPECT_THAT(error.what(), HasSubstr("\"" + std::string(name) + "\""));
    }
  }
}

TEST(ModelBackend, RunsTheStreamKernelOnSimulatedTime) {
  const auto at_2k = run(mpi_point(4096, PathMtu::mtu2048), 10'000);
  ASSERT_EQ(at_2k.status, TrialStatus::ok) << at_2k.reason;
  EXPECT_EQ(at_2k.messages, 10'000U);
  EXPECT_NEAR(4096.0 * 1e7 / static_cast<double>(at_2k.elapsed_ns), 416.683, 0.0416683);
  const auto at_1k = run(mpi_point(4096, PathMtu::mtu1024), 10'000);
  EXPECT_NEAR(4096.0 * 1e7 / static_cast<double>(at_1k.elapsed_ns), 520.911, 0.0520911);
  EXPECT_FALSE(at_1k.min_slice_bytes_per_s);
}

TEST(ModelBackend, EqualTrialsGiveEqualNumbersWhateverRanBetween) {
  const auto backend = make_model("model:tavor");
  const auto session = open_one(*backend, {});
  GoOn watch;
  const TrialRequest request{.point = mpi_point(2048, PathMtu::mtu2048), .messages = 10'001};
  const auto first = session->run(request, watch);
  ASSERT_EQ(session->run({.point = mpi_point(1500, PathMtu::mtu2048), .messages = 77}, watch).status, TrialStatus::ok);
  EXPECT_EQ(session->run(request, watch).elapsed_ns, first.elapsed_ns);
  EXPECT_TRUE(session->usable());
}

TEST(ModelBackend, QueuePairsAndDepthsShareTheOnePipeline) {
  SessionSpec spec;
  spec.qp_count = 3;
  spec.tx_depth = 4;
  spec.post_list = 2;
  const auto point = mpi_point(4096, PathMtu::mtu1024);
  const auto reading = run(point, 1000, 0, spec);
  ASSERT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  EXPECT_EQ(reading.messages, 1000U);
  EXPECT_EQ(reading.elapsed_ns, run(point, 1000).elapsed_ns);
}

TEST(ModelBackend, EverySliceOfASteadyStreamIsTheMean) {
  const auto reading = run(mpi_point(1500, PathMtu::mtu1024), 10'000, 1000);
  ASSERT_TRUE(reading.min_slice_bytes_per_s);
  EXPECT_NEAR(*reading.min_slice_bytes_per_s * static_cast<double>(reading.elapsed_ns) / (1500e4 * 1e9), 1, 1e-6);
}

TEST(ModelBackend, ProvesNoMtu) {
  const auto backend = make_model("model:tavor");
  GoOn watch;
  SessionSpec spec;
  spec.path_mtu = PathMtu::mtu2048;
  const auto proof = open_one(*backend, spec)->prove_mtu(watch);
  EXPECT_EQ(proof.asked, PathMtu::mtu2048);
  EXPECT_EQ(proof.verdict, ProofVerdict::not_provable);
  EXPECT_FALSE(proof.reason.empty());
}

std::string refusal(const Point& point) {
  return make_model("model:tavor")->refusal(point, nullptr).value_or("accepted");
}

TEST(ModelBackend, AcceptsStreamsOfSendsAt1KAnd2K) {
  for (const auto connection : {Connection::mpi, Connection::rc, Connection::uc, Connection::ud}) {
    for (const auto path_mtu : {PathMtu::mtu1024, PathMtu::mtu2048}) {
      auto point = mpi_point(to_bytes(path_mtu), path_mtu);
      point.connection = connection;
      EXPECT_EQ(refusal(point), "accepted") << to_string(connection);
    }
  }
}

TEST(ModelBackend, RefusesWhatItHasNoEquationFor) {
  const auto good = mpi_point(1024, PathMtu::mtu1024);
  auto point = good;
  point.pattern = Pattern::ping_pong;
  EXPECT_EQ(refusal(point), "model:tavor has no equation for ping-pong messages; it knows streams only");
  point.pattern = Pattern::bidirectional;
  EXPECT_THAT(refusal(point), HasSubstr("bidirectional messages"));
  for (const auto operation : {Operation::write, Operation::read}) {
    point = good;
    point.operation = operation;
    EXPECT_THAT(refusal(point), HasSubstr("the operation " + std::string(to_string(operation))));
  }
  for (const auto connection : {Connection::tcp, Connection::none}) {
    point = good;
    point.connection = connection;
    EXPECT_THAT(refusal(point), HasSubstr("the connection " + std::string(to_string(connection))));
  }
  EXPECT_THAT(refusal(mpi_point(0, PathMtu::mtu1024)), HasSubstr("empty messages"));
  point = good;
  point.working_set = WorkingSet{.block_count = 2};
  EXPECT_THAT(refusal(point), HasSubstr("registered block"));
}

TEST(ModelBackend, RefusesPathMtusTheTableDoesNotHave) {
  for (const auto path_mtu : {PathMtu::mtu256, PathMtu::mtu512, PathMtu::mtu4096}) {
    EXPECT_THAT(refusal(mpi_point(1024, path_mtu)), HasSubstr("path MTU " + std::to_string(to_bytes(path_mtu))));
  }
  auto point = mpi_point(1024, PathMtu::mtu1024);
  point.path_mtu.reset();
  EXPECT_THAT(refusal(point), HasSubstr("unknown path MTU"));
}

TEST(ModelBackend, RefusesDatagramsAboveThePathMtuEvenSegmented) {
  auto point = mpi_point(1025, PathMtu::mtu1024);
  point.connection = Connection::ud;
  point.header_bytes = 0;
  EXPECT_THAT(refusal(point), HasSubstr("UD messages above the path MTU"));
  point.segmented = true;
  EXPECT_THAT(refusal(point), HasSubstr("UD messages above the path MTU"));
}

}  // namespace
}  // namespace mtuscope::model
