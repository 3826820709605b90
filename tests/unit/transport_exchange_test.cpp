#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/transport/local_exchange.hpp"
#include "mtuscope/transport/tcp_exchange.hpp"
#include "mtuscope/transport/two_ended.hpp"

namespace mtuscope {
namespace {

TEST(LocalExchange, TheLastWordsOfAnEndThatHasGoneAreHeard) {
  const auto soon = Deadline::after_ns(5'000'000'000);
  auto [mine, theirs] = make_local_exchange();
  send_error(*theirs, "killed", FrameKind::gone);
  theirs.reset();
  mine->send(FrameKind::data, {}, soon);
  EXPECT_EQ(mine->receive(soon).kind, FrameKind::gone);
  EXPECT_THROW(mine->send(FrameKind::data, {}, soon), PeerError);
}

TEST(TcpExchange, CarriesFramesAndNoticesTheEnd) {
  const std::atomic<bool> never{false};
  const auto listener = listen_tcp("127.0.0.1", 0);
  ASSERT_NE(listener->port(), 0);
  auto client = connect_tcp("127.0.0.1", listener->port(), Deadline::after_ns(5'000'000'000));
  auto server = listener->accept(never);
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(client->peer_alive());
  EXPECT_FALSE(client->readable_within(0));
  const std::vector<std::byte> payload(100'000, std::byte{42});
  server->send(FrameKind::data, payload, Deadline::after_ns(5'000'000'000));
  EXPECT_EQ(receive_data(*client, Deadline::after_ns(5'000'000'000)), payload);
  send_error(*server, "out of memory");
  EXPECT_THROW((void)receive_data(*client, Deadline::after_ns(5'000'000'000)), RunError);
  server.reset();
  EXPECT_TRUE(client->readable_within(5000));
  EXPECT_FALSE(client->peer_alive());
  EXPECT_THROW((void)client->receive(Deadline::after_ns(1'000'000'000)), PeerError);
}

TEST(TcpExchange, SaysWhatToDoWhenNobodyListensOrThePortIsTaken) {
  const auto listener = listen_tcp("127.0.0.1", 0);
  try {
    (void)listen_tcp("127.0.0.1", listener->port());
    FAIL() << "no error";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string{error.what()}.find("--port"), std::string::npos);
  }
  EXPECT_THROW((void)listen_tcp("no.such.host.invalid", 0), ConfigError);
}

TEST(TcpExchange, RefusesAStrangersBytes) {
  const std::atomic<bool> never{false};
  const auto listener = listen_tcp("127.0.0.1", 0);
  auto client = connect_tcp("127.0.0.1", listener->port(), Deadline::after_ns(5'000'000'000));
  auto server = listener->accept(never);
  // A frame header whose magic is wrong, as any other protocol's first bytes are.
  struct Raw {
    static void send(Exchange& exchange) {
      exchange.send(static_cast<FrameKind>(9), {}, Deadline::after_ns(1'000'000'000));
    }
  };
  Raw::send(*client);
  EXPECT_THROW((void)server->receive(Deadline::after_ns(1'000'000'000)), PeerError);
}

/// The passive end of a stream of writes.
struct PassiveEnd final : TrialEnd {
  void prepare(const TrialRequest& /*request*/) override {}
  EndReading execute(const TrialRequest& /*request*/, Watch& /*watch*/) override { return {}; }
};

TEST(RunTwoEnded, APassiveEndHearsTheUsersStopWhileThePeerIsBusy) {
  auto [mine, theirs] = make_local_exchange();
  std::atomic<bool> stop{false};
  std::thread active{[&exchange = *theirs, &stop] {
    barrier(exchange, Deadline::after_ns(5'000'000'000U));
    stop = true;  // and never the reading that the passive end waits for
  }};
  PassiveEnd end;
  TrialRequest request;
  request.point.operation = Operation::write;
  ExchangeWatch watch{mine.get(), 5'000'000'000U, stop};
  EXPECT_THROW((void)run_two_ended(end, request, *mine, watch, 5'000'000'000U), RunError);
  active.join();
}

}  // namespace
}  // namespace mtuscope
