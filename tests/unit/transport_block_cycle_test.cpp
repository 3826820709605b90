#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "mtuscope/transport/block_cycle.hpp"

namespace mtuscope {
namespace {

using ::testing::ElementsAre;
using ::testing::Le;
using ::testing::SizeIs;

std::vector<std::uint32_t> first(BlockCycle cycle, std::size_t count) {
  std::vector<std::uint32_t> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(cycle.next());
  return blocks;
}

TEST(BlockCycle, FifoUsesEveryBlockBeforeOneIsUsedAgain) {
  EXPECT_THAT(first({3, ReuseOrder::fifo, 8}, 7), ElementsAre(0, 1, 2, 0, 1, 2, 0));
}

TEST(BlockCycle, SawtoothTurnsRoundAtBothEnds) {
  EXPECT_THAT(first({4, ReuseOrder::sawtooth, 8}, 9), ElementsAre(0, 1, 2, 3, 2, 1, 0, 1, 2));
  EXPECT_THAT(first({2, ReuseOrder::sawtooth, 8}, 4), ElementsAre(0, 1, 0, 1));
}

TEST(BlockCycle, OneBlockIsTheSameInEveryOrder) {
  for (const auto order : {ReuseOrder::fifo, ReuseOrder::lifo, ReuseOrder::random, ReuseOrder::sawtooth}) {
    EXPECT_THAT(first({1, order, 8}, 3), ElementsAre(0, 0, 0)) << to_string(order);
  }
}

TEST(BlockCycle, RandomIsTheSameSequenceOnBothEndsAndReachesMostBlocks) {
  const auto here = first({1000, ReuseOrder::random, 8}, 10'000);
  EXPECT_EQ(here, first({1000, ReuseOrder::random, 512}, 10'000));
  // 1000 x (1 - e^-10) = 999.95 different blocks are expected.
  EXPECT_GE((std::set<std::uint32_t>{here.begin(), here.end()}.size()), 990U);
}

TEST(BlockCycle, LifoTakesTheBlockThatWasGivenBackLast) {
  BlockCycle cycle{1000, ReuseOrder::lifo, 3};
  EXPECT_EQ(cycle.next(), 0U);
  EXPECT_EQ(cycle.next(), 1U);
  cycle.give_back(1);  // block 0
  EXPECT_EQ(cycle.next(), 0U);
  EXPECT_EQ(cycle.next(), 2U);
  cycle.give_back(2);  // 1, then 0
  EXPECT_EQ(cycle.next(), 0U);
  EXPECT_EQ(cycle.next(), 1U);
}

TEST(BlockCycle, LifoNeverUsesMoreBlocksThanMessagesInFlight) {
  BlockCycle cycle{17'000, ReuseOrder::lifo, 8};
  SplitMix64 random{1};
  std::set<std::uint32_t> used;
  std::uint32_t flying = 0;
  for (int i = 0; i < 10'000; ++i) {
    while (flying < 8) {
      used.insert(cycle.next());
      ++flying;
    }
    const auto done = static_cast<std::uint32_t>(1 + random.below(8));
    cycle.give_back(done);
    flying -= done;
  }
  EXPECT_THAT(used, SizeIs(Le(8U)));
}

TEST(BlockCycle, LifoWithFewerBlocksThanInFlightUsesTheOldestTwice) {
  EXPECT_THAT(first({2, ReuseOrder::lifo, 8}, 4), ElementsAre(0, 1, 0, 1));
}

}  // namespace
}  // namespace mtuscope
