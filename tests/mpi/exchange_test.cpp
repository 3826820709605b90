#include "mtuscope/mpi/exchange.hpp"

#include <gtest/gtest.h>

#include "mtuscope/core/error.hpp"
#include "ranks.hpp"

namespace mtuscope::mpi {
namespace {

std::vector<std::byte> bytes_of(std::size_t size, int from) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(from));
  return bytes;
}

class MpiExchangeTest : public testing::Test {
 protected:
  std::unique_ptr<Exchange> exchange = make_exchange(MPI_COMM_WORLD, peer_rank(), patient());
};

TEST_F(MpiExchangeTest, SwapsPayloadsOfAnySize) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, kMaxFrameBytes}) {
    EXPECT_EQ(swap(*exchange, bytes_of(size, rank()), patient()), bytes_of(size, peer_rank())) << size;
  }
}

TEST_F(MpiExchangeTest, KeepsOrderAndKinds) {
  constexpr int kFrames = 30;  // more than may be under way before a send waits
  if (rank() == 0) {
    for (int i = 0; i < kFrames; ++i) {
      exchange->send(i % 2 == 0 ? FrameKind::data : FrameKind::error, bytes_of(static_cast<std::size_t>(i), 0),
                     patient());
    }
  } else {
    for (int i = 0; i < kFrames; ++i) {
      const auto frame = exchange->receive(patient());
      EXPECT_EQ(frame.kind, i % 2 == 0 ? FrameKind::data : FrameKind::error);
      EXPECT_EQ(frame.payload, bytes_of(static_cast<std::size_t>(i), 0));
    }
  }
  barrier(*exchange, patient());
}

TEST_F(MpiExchangeTest, SilenceEndsAtTheDeadline) {
  if (rank() == 0) {
    EXPECT_FALSE(exchange->readable_within(0));
    EXPECT_FALSE(exchange->readable_within(20));
    EXPECT_THROW((void)exchange->receive(Deadline::after_ns(20'000'000)), PeerError);
    EXPECT_TRUE(exchange->peer_alive());
    exchange->send(FrameKind::data, {}, patient());
  }
  if (rank() == 1) (void)exchange->receive(patient());
  barrier(*exchange, patient());
}

TEST_F(MpiExchangeTest, SaysWhenAFrameWaits) {
  if (rank() == 0) exchange->send(FrameKind::gone, bytes_of(3, 0), patient());
  if (rank() == 1) {
    EXPECT_TRUE(exchange->readable_within(30'000));
    EXPECT_TRUE(exchange->readable_within(0));
    EXPECT_EQ(exchange->receive(patient()).kind, FrameKind::gone);
  }
  barrier(*exchange, patient());
}

TEST_F(MpiExchangeTest, RefusesAFrameThatIsTooLarge) {
  EXPECT_THROW(exchange->send(FrameKind::data, bytes_of(kMaxFrameBytes + 1, 0), patient()), RunError);
  barrier(*exchange, patient());
}

TEST_F(MpiExchangeTest, APeerThatTakesNothingEndsTheSend) {
  if (rank() == 0) {
    const auto frame = bytes_of(kMaxFrameBytes, 0);  // too large for MPI to take it before the peer does
    const auto send_many = [&] {
      for (int i = 0; i < 100; ++i) exchange->send(FrameKind::data, frame, Deadline::after_ns(20'000'000));
    };
    EXPECT_THROW(send_many(), PeerError);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 1) {  // for the communicator to be freed
    while (exchange->readable_within(50)) (void)exchange->receive(patient());
  }
}

TEST_F(MpiExchangeTest, NamesItsPeer) { EXPECT_EQ(exchange->peer_name(), "rank " + std::to_string(peer_rank())); }

}  // namespace
}  // namespace mtuscope::mpi
