#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mtuscope/core/error.hpp"
#include "mtuscope/sweep/pair_schedule.hpp"

namespace mtuscope::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Every pair of every round. Fails the test when a rank is in a round twice, or with itself.
std::vector<RankPair> pairs_of(const PairSchedule& schedule) {
  std::vector<RankPair> pairs;
  for (std::uint32_t number = 0; number < schedule.round_count(); ++number) {
    std::set<std::uint32_t> busy;
    for (const auto& pair : schedule.round(number)) {
      EXPECT_NE(pair.initiator, pair.responder);
      EXPECT_TRUE(busy.insert(pair.initiator).second) << "round " << number;
      EXPECT_TRUE(busy.insert(pair.responder).second) << "round " << number;
      pairs.push_back(pair);
    }
  }
  EXPECT_EQ(pairs.size(), schedule.pair_count());
  return pairs;
}

/// Without direction.
std::set<std::set<std::uint32_t>> meetings(const std::vector<RankPair>& pairs) {
  std::set<std::set<std::uint32_t>> result;
  for (const auto& pair : pairs) result.insert({pair.initiator, pair.responder});
  return result;
}

TEST(PairSchedule, AllLetsEveryPairMeetOnceInAsFewRoundsAsThereCanBe) {
  for (std::uint32_t count = 2; count <= 64; ++count) {
    const auto schedule = PairSchedule::all(count);
    EXPECT_EQ(schedule.round_count(), count % 2 == 0 ? count - 1 : count);
    const auto pairs = pairs_of(schedule);
    EXPECT_EQ(pairs.size(), count * (count - 1) / 2);
    EXPECT_EQ(meetings(pairs).size(), pairs.size()) << count;
    const bool in_range = std::all_of(pairs.begin(), pairs.end(), [&](const RankPair& pair) {
      return pair.initiator < count && pair.responder < count;
    });
    EXPECT_TRUE(in_range);
  }
}

TEST(PairSchedule, AllIsComputedAndNotKept) {
  const auto schedule = PairSchedule::all(1U << 20U);
  EXPECT_EQ(schedule.pair_count(), (std::uint64_t{1} << 19U) * ((1U << 20U) - 1));
  EXPECT_EQ(schedule.round(12345).size(), 1U << 19U);
}

TEST(PairSchedule, RingLetsEveryRankMeetItsNeighbours) {
  for (std::uint32_t count = 2; count <= 64; ++count) {
    const auto schedule = PairSchedule::ring(count);
    EXPECT_EQ(schedule.round_count(), count == 2 ? 1U : 2U + count % 2) << count;
    std::set<std::set<std::uint32_t>> expected;
    for (std::uint32_t rank = 0; rank < count; ++rank) expected.insert({rank, (rank + 1) % count});
    const auto pairs = pairs_of(schedule);
    EXPECT_EQ(meetings(pairs), expected);
    EXPECT_EQ(pairs.size(), expected.size());
  }
}

TEST(PairSchedule, HalvesIsOneRoundAcrossTheMiddle) {
  EXPECT_THAT(PairSchedule::halves(6).round(0), ElementsAre(RankPair{0, 3}, RankPair{1, 4}, RankPair{2, 5}));
  EXPECT_THAT(PairSchedule::halves(5).round(0), ElementsAre(RankPair{0, 2}, RankPair{1, 3}));
  EXPECT_EQ(PairSchedule::halves(64).round_count(), 1U);
}

TEST(PairSchedule, AListKeepsItsPairsAndDirections) {
  const std::vector<RankPair> wanted{{3, 0}, {0, 1}, {1, 2}, {2, 3}, {1, 0}};
  auto pairs = pairs_of(PairSchedule::list(wanted));
  EXPECT_THAT(pairs, ::testing::UnorderedElementsAreArray(wanted));
}

TEST(PairSchedule, BothDirectionsFollowEachOther) {
  for (std::uint32_t count = 2; count <= 9; ++count) {
    auto schedule = PairSchedule::all(count);
    schedule.add_reverse();
    const auto pairs = pairs_of(schedule);
    EXPECT_EQ(std::set<RankPair>(pairs.begin(), pairs.end()).size(), count * (count - 1));
    const auto there = schedule.round(0).front();
    EXPECT_EQ(schedule.round(1).front(), (RankPair{there.responder, there.initiator}));
  }
}

TEST(ParsePairs, TakesNumbersAndNames) {
  EXPECT_THAT(parse_pairs("# racks\n0 b  # far\n\n c 1\n", {"a", "b", "c"}),
              ElementsAre(RankPair{0, 1}, RankPair{2, 1}));
}

TEST(ParsePairs, SaysInWhichLineWhatIsWrong) {
  const auto fault = [](const char* text) {
    try {
      (void)parse_pairs(text, {"a", "b"});
      return std::string{"nothing"};
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
  };
  EXPECT_THAT(fault("a b\na 2"), HasSubstr("line 2: there is no rank \"2\""));
  EXPECT_THAT(fault("a b\na b"), HasSubstr("line 2: the pair is there twice"));
  EXPECT_THAT(fault("a a"), HasSubstr("with itself"));
  EXPECT_THAT(fault("a"), HasSubstr("two ranks"));
  EXPECT_THAT(fault("a b c"), HasSubstr("two ranks"));
  EXPECT_THAT(fault("# nothing\n"), HasSubstr("no pair"));
  EXPECT_THAT(fault("a -1"), HasSubstr("no rank"));
}

}  // namespace
}  // namespace mtuscope::sweep
