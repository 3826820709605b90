#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/mpi/backend.hpp"
#include "mtuscope/mpi/exchange.hpp"
#include "mtuscope/mpi/watchdog.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "ranks.hpp"

namespace mtuscope::mpi {
namespace {

constexpr std::uint32_t kWindow = 4;

Point point_of(Pattern pattern, std::uint64_t size) {
  Point point;
  point.connection = Connection::mpi;
  point.pattern = pattern;
  point.message_size_bytes = size;
  return point;
}

class MpiSessionTest : public testing::Test {
 protected:
  MpiSessionTest() {
    SessionSpec spec;
    spec.connection = Connection::mpi;
    spec.max_message_size_bytes = 1U << 20U;
    spec.tx_depth = kWindow;
    specs.push_back(spec);
    sessions = backend->open(specs, role(), exchange.get());
  }

  TrialReading run(const Point& point, std::uint64_t messages, std::uint64_t slice_messages = 0) {
    return sessions.front()->run(
        {.point = point, .messages = messages, .slice_messages = slice_messages, .verify_payload = true}, watch);
  }

  std::unique_ptr<Exchange> exchange = make_exchange(MPI_COMM_WORLD, peer_rank(), patient());
  std::unique_ptr<Backend> backend = make_mpi(MPI_COMM_WORLD, peer_rank(), [](const std::string& reason) {
    ADD_FAILURE() << reason;
    MPI_Abort(MPI_COMM_WORLD, 1);
  });
  std::vector<SessionSpec> specs;
  std::vector<std::unique_ptr<Session>> sessions;
  std::atomic<bool> stop{false};
  ExchangeWatch watch{exchange.get(), 30'000'000'000U, stop};
};

TEST_F(MpiSessionTest, EveryPatternMovesEveryNumberOfMessages) {
  for (const auto pattern : {Pattern::stream, Pattern::bidirectional, Pattern::ping_pong}) {
    for (const std::uint64_t size : {1U, 4097U, 1U << 20U}) {
      for (const std::uint64_t messages : {1U, 2U, kWindow - 1, kWindow, kWindow + 1, 2 * kWindow, 5 * kWindow + 3}) {
        const auto reading = run(point_of(pattern, size), messages);
        ASSERT_EQ(reading.status, TrialStatus::ok) << reading.reason;
        if (rank() != 0) continue;
        EXPECT_EQ(reading.messages, pattern == Pattern::bidirectional ? 2 * messages : messages);
        EXPECT_GT(reading.elapsed_ns, 0U);
        ASSERT_EQ(reading.latency != nullptr, pattern == Pattern::ping_pong);
        if (reading.latency) {
          EXPECT_EQ(reading.latency->count(), messages);
        }
      }
    }
  }
}

TEST_F(MpiSessionTest, RoundTripsAddUpToTheSpan) {
  const auto reading = run(point_of(Pattern::ping_pong, 8), 1);
  ASSERT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  if (rank() != 0) return;
  EXPECT_EQ(reading.latency->max_ns(), (reading.elapsed_ns + 1) / 2);
}

TEST_F(MpiSessionTest, KeepsTheSlowestSliceOfAStream) {
  const auto reading =
      run(point_of(Pattern::stream, 1000), std::uint64_t{1000} * kWindow, std::uint64_t{100} * kWindow);
  ASSERT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  if (rank() != 0) return;
  ASSERT_TRUE(reading.min_slice_bytes_per_s.has_value());
  EXPECT_GT(*reading.min_slice_bytes_per_s, 0);
}

TEST_F(MpiSessionTest, WrongPayloadFailsTheTrialAndNotTheSession) {
  for (const auto pattern : {Pattern::stream, Pattern::bidirectional, Pattern::ping_pong}) {
    const auto point = point_of(pattern, 5000);
    corrupt_sends = rank() == 0;
    const auto reading = run(point, 10);
    corrupt_sends = false;
    EXPECT_EQ(reading.status, TrialStatus::failed);
    EXPECT_NE(reading.reason.find("payload differs at byte 4999"), std::string::npos) << reading.reason;
    EXPECT_EQ(run(point, 10).status, TrialStatus::ok);
  }
}

TEST_F(MpiSessionTest, AMessageThatDoesNotFitFailsOnBothEnds) {
  const auto reading = run(point_of(Pattern::stream, 3U << 20U), 1);
  EXPECT_EQ(reading.status, TrialStatus::failed);
  EXPECT_FALSE(reading.reason.empty());
}

TEST_F(MpiSessionTest, RefusesWhatMpiDoesNotHaveInASentence) {
  auto point = point_of(Pattern::stream, 8);
  EXPECT_FALSE(backend->refusal(point, nullptr).has_value());
  const auto refused = [&](auto change) {
    auto other = point;
    change(other);
    return backend->refusal(other, nullptr).has_value();
  };
  EXPECT_TRUE(refused([](Point& p) { p.connection = Connection::rc; }));
  EXPECT_TRUE(refused([](Point& p) { p.operation = Operation::write; }));
  EXPECT_TRUE(refused([](Point& p) { p.message_size_bytes = std::uint64_t{1} << 31U; }));
  EXPECT_TRUE(refused([](Point& p) { p.qp_count = 2; }));
  EXPECT_TRUE(refused([](Point& p) { p.inline_bytes = 64; }));
  EXPECT_TRUE(refused([](Point& p) { p.wait_mode = WaitMode::event; }));
}

TEST(MpiWatchdogTest, RingsWhenNothingMoves) {
  std::promise<std::string> rung;
  std::atomic<bool> once{false};
  Watchdog dog{20'000'000, [&](const std::string& reason) {
                 if (!once.exchange(true)) rung.set_value(reason);
               }};
  const ExchangeWatch watch{nullptr, 0, once};
  const Watchdog::Duty duty{dog, "the point", watch};
  auto reason = rung.get_future();
  ASSERT_EQ(reason.wait_for(std::chrono::seconds{30}), std::future_status::ready);
  EXPECT_NE(reason.get().find("the point: no message moved"), std::string::npos);
}

TEST(MpiWatchdogTest, RingsWhenARunDoesNotStopAsAsked) {
  std::promise<std::string> rung;
  std::atomic<bool> once{false};
  Watchdog dog{20'000'000, [&](const std::string& reason) {
                 if (!once.exchange(true)) rung.set_value(reason);
               }};
  std::atomic<bool> stop{true};
  const ExchangeWatch watch{nullptr, 0, stop};
  const Watchdog::Duty duty{dog, "the point", watch};
  auto reason = rung.get_future();
  while (reason.wait_for(std::chrono::milliseconds{1}) != std::future_status::ready) ++dog.progress();
  EXPECT_NE(reason.get().find("asked to stop"), std::string::npos);
}

}  // namespace
}  // namespace mtuscope::mpi
