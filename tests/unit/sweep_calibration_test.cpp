#include <gtest/gtest.h>

#include <functional>

#include "mtuscope/sweep/calibration.hpp"

namespace mtuscope::sweep {
namespace {

/// A device that takes so long for a message, and the repetitions asked of it.
struct Device {
  double message_ns = 1000;
  double slower_each_time = 1;
  int repetitions = 0;
  TrialReading operator()(std::uint64_t messages, bool first) {
    EXPECT_EQ(first, repetitions == 0);
    ++repetitions;
    TrialReading reading;
    reading.messages = messages;
    reading.elapsed_ns = static_cast<std::uint64_t>(message_ns * static_cast<double>(messages));
    message_ns *= slower_each_time;
    return reading;
  }
};

constexpr WarmUpRule kRule{
    .trial_time_ns = 20'000'000, .slice_time_ns = 4'000'000, .fewest_messages = 128, .cq_mod = 1, .fixed_messages = {}};

TEST(WarmUp, LastsTheTrialTimeInSlicesOfTheirs) {
  Device device;
  const auto result = warm_up(kRule, std::ref(device));
  EXPECT_GE(result.length.messages, 20'000U);
  EXPECT_LE(result.length.messages, 40'000U);
  EXPECT_EQ(result.length.slice_messages, 4000U);
  EXPECT_GT(result.discarded_messages, result.length.messages);
}

TEST(WarmUp, MakesNoSliceWithoutASliceTimeOrRoomForThree) {
  Device device;
  auto rule = kRule;
  rule.slice_time_ns = 0;
  EXPECT_EQ(warm_up(rule, std::ref(device)).length.slice_messages, 0U);
  Device slow{.message_ns = 1e6};
  EXPECT_EQ(warm_up(kRule, std::ref(slow)).length.slice_messages, 0U);
}

TEST(WarmUp, ASliceHoldsAFullPipe) {
  Device device{.message_ns = 50'000};
  auto rule = kRule;
  rule.fixed_messages = 1000;
  EXPECT_EQ(warm_up(rule, std::ref(device)).length.slice_messages, 128U);
}

TEST(WarmUp, GivesUpSettlingAfterTwelveRepetitions) {
  Device device{.message_ns = 1000, .slower_each_time = 1.5};
  (void)warm_up(kRule, std::ref(device));
  EXPECT_EQ(device.repetitions, 12);
}

TEST(WarmUp, EndsAtTheFirstFailure) {
  int repetitions = 0;
  const auto result = warm_up(kRule, [&](std::uint64_t, bool) {
    ++repetitions;
    return failed_reading("retries exceeded");
  });
  EXPECT_EQ(repetitions, 1);
  EXPECT_EQ(result.last.reason, "retries exceeded");
}

}  // namespace
}  // namespace mtuscope::sweep
