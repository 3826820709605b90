#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
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
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(listener->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(connect(stranger, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: node7\r\n\r\n";
  ASSERT_EQ(send(stranger, kRequest.data(), kRequest.size(), 0), static_cast<ssize_t>(kRequest.size()));
  const auto server = listener->accept(never);
  try {
    (void)server->receive(Deadline::after_ns(5'000'000'000));
    ADD_FAILURE() << "no error";
  } catch (const PeerError& error) {
    EXPECT_NE(std::string{error.what()}.find("does not speak mtuscope's protocol"), std::string::npos) << error.what();
  }
  close(stranger);
}

TEST(TcpExchange, RefusesAFrameOfAnUnknownKind) {
  const std::atomic<bool> never{false};
  const auto listener = listen_tcp("127.0.0.1", 0);
  auto client = connect_tcp("127.0.0.1", listener->port(), Deadline::after_ns(5'000'000'000));
  auto server = listener->accept(never);
  client->send(static_cast<FrameKind>(9), {}, Deadline::after_ns(1'000'000'000));
  EXPECT_THROW((void)server->receive(Deadline::after_ns(1'000'000'000)), PeerError);
}

/// The passive end of a stream of writes.
struct PassiveEnd final : TrialEnd {
  void prepare(const TrialRequest& /*request*/) override {}
  EndReading execute(const TrialRequest& /*request*/, Watch& /*watch*/) override { return {}; }
};

TEST(ExchangeWatch, CountsFromItsFirstLookAndNotFromThePreparation) {
  const std::atomic<bool> never{false};
  ExchangeWatch watch{nullptr, 0, never};
  EXPECT_EQ(watch.check(false), WatchVerdict::go_on);
  const auto begin_ns = MonotonicClock{}.now_ns();
  while (MonotonicClock{}.now_ns() == begin_ns) {
  }
  EXPECT_EQ(watch.check(false), WatchVerdict::timed_out);
}

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
