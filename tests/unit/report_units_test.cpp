#include <gtest/gtest.h>

#include "mtuscope/report/units.hpp"

namespace mtuscope::report {
namespace {

TEST(ReportUnits, NamesPathMtus) {
  EXPECT_EQ(mtu_label(PathMtu::mtu256), "256");
  EXPECT_EQ(mtu_label(PathMtu::mtu512), "512");
  EXPECT_EQ(mtu_label(PathMtu::mtu1024), "1K");
  EXPECT_EQ(mtu_label(PathMtu::mtu4096), "4K");
}

TEST(ReportUnits, MegabyteIsTenToTheSixth) {
  EXPECT_EQ(megabytes_per_s(1048576.0), "1.05");
  EXPECT_EQ(megabytes_per_s(392831026.0), "392.83");
}

TEST(ReportUnits, MicrosecondsFromNanoseconds) { EXPECT_EQ(microseconds(5207), "5.21"); }

TEST(ReportUnits, SignedPercentHasNoSignedZero) {
  EXPECT_EQ(signed_percent(0.0358), "+3.58");
  EXPECT_EQ(signed_percent(-0.0005), "-0.05");
  EXPECT_EQ(signed_percent(-0.00001), "0.00");
  EXPECT_EQ(signed_percent(0.0), "0.00");
}

TEST(ReportUnits, PercentWithAskedDigits) { EXPECT_EQ(percent(0.00013, 3), "0.013"); }

TEST(ReportUnits, DurationsForPeople) {
  EXPECT_EQ(duration(0), "0 s");
  EXPECT_EQ(duration(59'400'000'000U), "59 s");
  EXPECT_EQ(duration(185'000'000'000U), "3 min 05 s");
  EXPECT_EQ(duration(7'800'000'000'000U), "2 h 10 min");
}

}  // namespace
}  // namespace mtuscope::report
