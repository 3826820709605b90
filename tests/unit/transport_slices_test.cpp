#include <gtest/gtest.h>

#include <array>

#include "mtuscope/transport/slices.hpp"

namespace mtuscope {
namespace {

TEST(SlowestSlice, LeavesOutTheFirstInWhichThePipeFills) {
  constexpr std::array<std::uint64_t, 4> kEndsNs{9000, 10'000, 12'000, 13'000};
  EXPECT_EQ(slowest_slice(kEndsNs, 1000), 1000 * 1e9 / 2000);
}

TEST(SlowestSlice, TakesSlicesThatEndedAtOneInstantAsOne) {
  constexpr std::array<std::uint64_t, 5> kEndsNs{1000, 3000, 3000, 4000, 5000};
  EXPECT_EQ(slowest_slice(kEndsNs, 1000), 1000 * 1e9 / 1000);
}

TEST(SlowestSlice, NeedsTwoBesidesTheFirst) {
  constexpr std::array<std::uint64_t, 2> kEndsNs{1000, 2000};
  EXPECT_FALSE(slowest_slice(kEndsNs, 1000));
  EXPECT_FALSE(slowest_slice({}, 1000));
}

}  // namespace
}  // namespace mtuscope
