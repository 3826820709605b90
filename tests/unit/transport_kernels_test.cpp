#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <vector>

#include "allocation_counter.hpp"
#include "mtuscope/transport/ping_pong_kernel.hpp"
#include "mtuscope/transport/stream_kernel.hpp"

namespace mtuscope {
namespace {

/// Simulated time: every poll that finds something moves it by 100 ns per message.
struct TestClock {
  const std::uint64_t* time_ns;
  std::uint64_t now_ns() const noexcept { return *time_ns; }
};

struct EndlessPatience final : Watch {
  WatchVerdict check(bool /*progressed*/) noexcept override { return WatchVerdict::go_on; }
};

/// Completes posted messages one cq-mod group per poll and checks the window it is given.
struct TestChannel {
  std::uint64_t time_ns = 7;
  std::uint32_t cq_mod = 1;
  std::uint64_t outstanding = 0;
  std::uint64_t unsignaled = 0;
  std::uint64_t most_outstanding = 0;
  std::uint64_t lasts = 0;
  std::uint64_t posts = 0;
  std::array<std::uint32_t, 4096> groups{};
  std::size_t head = 0;
  std::size_t tail = 0;

  bool post(std::uint32_t /*qp*/, std::uint32_t count, bool last) noexcept {
    ++posts;
    outstanding += count;
    unsignaled += count;
    most_outstanding = std::max(most_outstanding, outstanding);
    if (unsignaled >= cq_mod || last) {
      groups[tail++ % groups.size()] = static_cast<std::uint32_t>(unsignaled);
      unsignaled = 0;
    }
    lasts += last ? 1 : 0;
    return true;
  }
  int poll_send(std::span<Completion> out) noexcept {
    if (head == tail) return 0;
    const auto messages = groups[head++ % groups.size()];
    outstanding -= messages;
    time_ns += std::uint64_t{100} * messages;
    out[0] = {.qp = 0, .messages = messages};
    return 1;
  }
  bool arm() noexcept { return true; }
  int wait_event(int /*ms*/) noexcept { return 1; }
};
static_assert(SendChannel<TestChannel>);

StreamResult send_all(TestChannel& channel, const StreamJob& job, std::span<std::uint64_t> slices = {}) {
  const TestClock clock{&channel.time_ns};
  std::array<QpProgress, 1> qps{};
  EndlessPatience watch;
  return run_stream<WaitMode::spin, StreamRole{.sends = true}>(channel, clock, job, {qps, slices}, watch);
}

TEST(StreamKernel, IsExactOnSimulatedTime) {
  TestChannel channel;
  const auto result = send_all(channel, {.messages = 1000, .tx_depth = 4});
  EXPECT_EQ(result.sent, 1000U);
  EXPECT_EQ(result.sent_ns - result.begin_ns, 100'000U);
  EXPECT_EQ(channel.most_outstanding, 4U);
  EXPECT_EQ(channel.lasts, 1U);
}

TEST(StreamKernel, SignaledEveryNthMessageStillCountsAll) {
  TestChannel channel{.cq_mod = 7};
  const auto result = send_all(channel, {.messages = 1001, .tx_depth = 16});
  EXPECT_EQ(result.sent, 1001U);
  EXPECT_LE(channel.most_outstanding, 16U);
}

TEST(StreamKernel, PostsWholeListsThatFitTheDepth) {
  TestChannel channel;
  const auto result = send_all(channel, {.messages = 103, .tx_depth = 16, .post_list = 10});
  EXPECT_EQ(result.sent, 103U);
  EXPECT_EQ(channel.posts, 11U);
  EXPECT_LE(channel.most_outstanding, 16U);
}

TEST(StreamKernel, StampsSlicesByCount) {
  TestChannel channel;
  std::array<std::uint64_t, 16> slices{};
  const auto result = send_all(channel, {.messages = 1000, .tx_depth = 4, .slice_messages = 250}, slices);
  ASSERT_EQ(result.slices, 4U);
  EXPECT_EQ(slices[0] - result.begin_ns, 25'000U);
  EXPECT_EQ(slices[3] - slices[2], 25'000U);
}

struct StopAsked final : Watch {
  explicit StopAsked(const std::atomic<bool>& stop) noexcept : Watch(stop) {}
  WatchVerdict check(bool /*progressed*/) noexcept override { return WatchVerdict::go_on; }
};

/// A trial whose messages never stop flowing has no empty poll at which it could look.
TEST(StreamKernel, EndsWhenAskedWhileMessagesFlow) {
  TestChannel channel;
  const TestClock clock{&channel.time_ns};
  std::array<QpProgress, 1> qps{};
  const std::atomic<bool> stop{true};
  StopAsked watch{stop};
  const auto result = run_stream<WaitMode::spin, StreamRole{.sends = true}>(
      channel, clock, {.messages = 1'000'000'000, .tx_depth = 4}, {qps, {}}, watch);
  EXPECT_EQ(result.status, KernelStatus::interrupted);
  EXPECT_LT(result.sent, 1'000'000U);
}

TEST(StreamKernel, AllocatesNothing) {
  TestChannel channel;
  const TestClock clock{&channel.time_ns};
  std::array<QpProgress, 1> qps{};
  EndlessPatience watch;
  const auto before = test::allocation_count();
  const auto result = run_stream<WaitMode::spin, StreamRole{.sends = true}>(
      channel, clock, {.messages = 100'000, .tx_depth = 128}, {qps, {}}, watch);
  EXPECT_EQ(test::allocation_count() - before, 0U);
  EXPECT_EQ(result.sent, 100'000U);
}

/// Two ends joined by queues, driven by one thread: each poll of one end lets the other end's messages arrive. Loses
/// every `lose_every`-th message and drops what overflows the receive queue.
struct Wire {
  struct End {
    std::deque<Completion> arrived;
    std::deque<Completion> sent;
    std::uint64_t receives = 0;
    std::uint64_t overflows = 0;
    std::uint32_t sequence = 0;
  };
  std::array<End, 2> ends;
  std::uint64_t lose_every = 0;
  std::uint64_t count = 0;
  std::uint64_t time_ns = 1;
};

struct WireChannel {
  Wire* wire;
  std::size_t mine;

  void deliver(Completion completion) noexcept {
    auto& peer = wire->ends[1 - mine];
    if (peer.receives == 0) {
      ++peer.overflows;
      return;
    }
    --peer.receives;
    peer.arrived.push_back(completion);
  }
  bool post(std::uint32_t qp, std::uint32_t count, bool /*last*/) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto sequence = wire->ends[mine].sequence++;
      const bool lost = wire->lose_every != 0 && ++wire->count % wire->lose_every == 0;
      if (!lost) deliver({.qp = qp, .messages = 1, .immediate = sequence});
    }
    wire->ends[mine].sent.push_back({.qp = qp, .messages = count});
    return true;
  }
  bool post_credit(std::uint32_t qp, std::uint32_t sequence) noexcept {
    deliver({.qp = qp, .messages = 0, .immediate = sequence, .is_credit = true});
    wire->ends[mine].sent.push_back({.qp = qp, .messages = 0});
    return true;
  }
  int take(std::deque<Completion>& queue, std::span<Completion> out) noexcept {
    wire->time_ns += 10;
    if (queue.empty()) return 0;
    out[0] = queue.front();
    queue.pop_front();
    return 1;
  }
  int poll_send(std::span<Completion> out) noexcept { return take(wire->ends[mine].sent, out); }
  int poll_receive(std::span<Completion> out) noexcept { return take(wire->ends[mine].arrived, out); }
  bool post_receives(std::uint32_t /*qp*/, std::uint32_t count) noexcept {
    wire->ends[mine].receives += count;
    return true;
  }
  bool arm() noexcept { return true; }
  int wait_event(int /*ms*/) noexcept { return 1; }
};
static_assert(Channel<WireChannel>);

TEST(StreamKernel, ReceiverCountsAndTimesArrivals) {
  Wire wire;
  WireChannel sender{&wire, 0};
  WireChannel receiver{&wire, 1};
  ASSERT_TRUE(receiver.post_receives(0, 64));
  ASSERT_TRUE(sender.post(0, 64, true));
  const TestClock clock{&wire.time_ns};
  std::array<QpProgress, 1> qps{};
  EndlessPatience watch;
  const auto result = run_stream<WaitMode::spin, StreamRole{.receives = true}>(
      receiver, clock, {.messages = 64, .rx_depth = 64}, {qps, {}}, watch);
  EXPECT_EQ(result.status, KernelStatus::ok);
  EXPECT_EQ(result.received, 64U);
  EXPECT_EQ(result.last_received_ns - result.first_received_ns, 63U * 10U);
}

/// With credits no receive queue overflows, however slow the receiver is: here it only runs when the sender waits.
TEST(StreamKernel, CreditsKeepTheReceiveQueueFromOverflowing) {
  Wire wire;
  WireChannel sender{&wire, 0};
  WireChannel receiver{&wire, 1};
  constexpr std::uint32_t kDepth = 32;
  ASSERT_TRUE(receiver.post_receives(0, kDepth));
  ASSERT_TRUE(sender.post_receives(0, kDepth));
  const StreamJob job{.messages = 1000, .tx_depth = 128, .rx_depth = kDepth};
  const TestClock clock{&wire.time_ns};
  std::array<QpProgress, 1> sending{};
  std::array<QpProgress, 1> receiving{};
  EndlessPatience watch;
  StreamKernel<WaitMode::spin, StreamRole{.sends = true, .credits = true}, WireChannel, TestClock> out{
      sender, clock, job, {sending, {}}, watch};
  StreamKernel<WaitMode::spin, StreamRole{.receives = true, .credits = true}, WireChannel, TestClock> in{
      receiver, clock, job, {receiving, {}}, watch};
  for (int i = 0; i < 100'000 && !(out.finished() && in.finished()); ++i) {
    ASSERT_EQ(out.step(), KernelStatus::ok);
    if (i % 5 != 0) continue;
    ASSERT_EQ(in.step(), KernelStatus::ok);
  }
  EXPECT_TRUE(out.finished());
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(wire.ends[1].overflows, 0U);
  EXPECT_EQ(wire.ends[0].overflows, 0U);
}

TEST(StreamKernel, AnOvertakenDatagramTakesNoSequenceBack) {
  Wire wire;
  WireChannel receiver{&wire, 1};
  wire.ends[0].receives = 8;
  const TestClock clock{&wire.time_ns};
  std::array<QpProgress, 1> qps{};
  EndlessPatience watch;
  StreamKernel<WaitMode::spin, StreamRole{.receives = true, .credits = true}, WireChannel, TestClock> in{
      receiver, clock, {.messages = 10, .rx_depth = kCreditReserve + 4}, {qps, {}}, watch};
  for (const std::uint32_t sequence : {1U, 0U, 2U}) {
    wire.ends[1].arrived.push_back({.qp = 0, .messages = 1, .immediate = sequence});
    ASSERT_EQ(in.step(), KernelStatus::ok);
  }
  EXPECT_EQ(qps[0].next_sequence, 3U);
  ASSERT_EQ(wire.ends[0].arrived.size(), 2U);
  EXPECT_EQ(wire.ends[0].arrived[0].immediate, 2U);
  EXPECT_EQ(wire.ends[0].arrived[1].immediate, 3U);
}

/// A silence gives the sender its window once: neither a credit that comes late nor the pauses after it give more.
TEST(StreamKernel, CreditsHoldAfterASilenceToo) {
  Wire wire;
  WireChannel sender{&wire, 0};
  const StreamJob job{.messages = 1000, .tx_depth = 128, .rx_depth = kCreditReserve + 24};
  const TestClock clock{&wire.time_ns};
  std::array<QpProgress, 1> qps{};
  EndlessPatience watch;
  StreamKernel<WaitMode::spin, StreamRole{.sends = true, .credits = true}, WireChannel, TestClock> out{
      sender, clock, job, {qps, {}}, watch};
  const auto step = [&] { return out.step() == KernelStatus::ok; };
  while (qps[0].credited == 0) ASSERT_TRUE(step());  // kLossSilenceNs of polling
  ASSERT_EQ(qps[0].credited, 24U);
  wire.ends[0].arrived.push_back({.qp = 0, .messages = 0, .immediate = 6, .is_credit = true});
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(step());
  EXPECT_EQ(qps[0].credited, 24U);
  EXPECT_EQ(qps[0].posted, 48U);
}

struct PeerHasFinished final : Watch {
  WatchVerdict check(bool /*progressed*/) noexcept override { return WatchVerdict::peer_finished; }
};

TEST(StreamKernel, LostMessagesEndTheReceiverOnceThePeerHasFinished) {
  Wire wire;
  wire.lose_every = 10;
  WireChannel sender{&wire, 0};
  WireChannel receiver{&wire, 1};
  ASSERT_TRUE(receiver.post_receives(0, 200));
  ASSERT_TRUE(sender.post(0, 100, true));
  const TestClock clock{&wire.time_ns};
  std::array<QpProgress, 1> qps{};
  PeerHasFinished watch;
  const auto result = run_stream<WaitMode::yield, StreamRole{.receives = true}>(
      receiver, clock, {.messages = 100, .rx_depth = 200}, {qps, {}}, watch);
  EXPECT_EQ(result.status, KernelStatus::peer_finished);
  EXPECT_EQ(result.received, 90U);
  // One message and 10 ns a poll; the silence of the last poll but a few must not count.
  EXPECT_GE(result.last_received_ns - result.first_received_ns, 890U);
  EXPECT_LE(result.last_received_ns - result.first_received_ns, 1000U);
}

/// Echoes every message at once.
struct EchoChannel {
  std::uint64_t time_ns = 0;
  std::uint32_t arrived = 0;
  std::uint32_t sent = 0;
  bool post(std::uint32_t /*qp*/, std::uint32_t /*count*/, bool /*last*/) noexcept {
    ++sent;
    ++arrived;
    return true;
  }
  int poll_send(std::span<Completion> out) noexcept {
    if (sent == 0) return 0;
    out[0] = {.qp = 0, .messages = std::exchange(sent, 0U)};
    return 1;
  }
  int poll_receive(std::span<Completion> out) noexcept {
    if (arrived == 0) return 0;
    --arrived;
    time_ns += 2000;
    out[0] = {.qp = 0, .messages = 1};
    return 1;
  }
  bool post_receives(std::uint32_t /*qp*/, std::uint32_t /*count*/) noexcept { return true; }
  bool post_credit(std::uint32_t /*qp*/, std::uint32_t /*sequence*/) noexcept { return true; }
  bool arm() noexcept { return true; }
  int wait_event(int /*ms*/) noexcept { return 1; }
};

TEST(PingPongKernel, RecordsHalfOfEveryRoundTrip) {
  EchoChannel channel;
  const TestClock clock{&channel.time_ns};
  EndlessPatience watch;
  LatencyHistogram histogram;
  PingPongKernel<WaitMode::spin, PingPongKind::send, EchoChannel, TestClock> kernel{channel, clock, 500, 8, watch};
  const auto result = kernel.initiate(histogram);
  EXPECT_EQ(result.status, KernelStatus::ok);
  EXPECT_EQ(result.round_trips, 500U);
  EXPECT_EQ(result.elapsed_ns, 1'000'000U);
  EXPECT_EQ(histogram.count(), 500U);
  EXPECT_EQ(histogram.min_ns(), 1000U);
  EXPECT_EQ(histogram.max_ns(), 1000U);
}

struct Impatience final : Watch {
  WatchVerdict check(bool /*progressed*/) noexcept override { return WatchVerdict::timed_out; }
};

TEST(PingPongKernel, GivesUpWhenTheWatchSaysSo) {
  Wire wire;
  WireChannel channel{&wire, 0};
  const TestClock clock{&wire.time_ns};
  Impatience watch;
  PingPongKernel<WaitMode::spin, PingPongKind::send, WireChannel, TestClock> kernel{channel, clock, 3, 8, watch};
  EXPECT_EQ(kernel.respond().status, KernelStatus::timed_out);
}

}  // namespace
}  // namespace mtuscope
