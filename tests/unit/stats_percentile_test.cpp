#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "mtuscope/stats/percentile.hpp"
#include "property.hpp"

namespace mtuscope::stats {
namespace {

using Values = std::vector<double>;

// The nearest-rank example printed in many texts (e.g. the Wikipedia article "Percentile", worked example 1).
TEST(Percentile, AgreesWithTheWorkedNearestRankExample) {
  const Values samples{15, 20, 35, 40, 50};
  EXPECT_EQ(percentile(samples, 0.05), 15.0);
  EXPECT_EQ(percentile(samples, 0.30), 20.0);
  EXPECT_EQ(percentile(samples, 0.40), 20.0);
  EXPECT_EQ(percentile(samples, 0.50), 35.0);
  EXPECT_EQ(percentile(samples, 1.00), 50.0);
}

TEST(Percentile, OfHundredSamplesIsTheRankItNames) {
  Values samples(100);
  std::iota(samples.begin(), samples.end(), 1.0);
  // 0.07 x 100 and 0.29 x 100 are not whole numbers in binary; the rank must not slip.
  for (int rank = 1; rank <= 100; ++rank) EXPECT_EQ(percentile(samples, rank / 100.0), rank);
}

TEST(Percentile, HasTheExtremesAtItsEnds) {
  EXPECT_EQ(percentile(Values{4.0}, 0.0), 4.0);
  EXPECT_EQ(percentile(Values{4.0}, 0.999), 4.0);
  EXPECT_EQ(percentile(Values{1.0, 1.0, 9.0}, 0.0), 1.0);
  EXPECT_EQ(percentile(Values{1.0, 1.0, 9.0}, 1.0), 9.0);
}

TEST(Percentile, RefusesMisuse) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)percentile(Values{}, 0.5), std::invalid_argument);
  EXPECT_THROW((void)percentile(Values{2.0, 1.0}, 0.5), std::invalid_argument);
  EXPECT_THROW((void)percentile(Values{1.0, nan}, 0.5), std::invalid_argument);
  for (const double quantile : {-0.1, 1.1, 99.0, nan}) {
    EXPECT_THROW((void)percentile(Values{1.0}, quantile), std::invalid_argument) << quantile;
  }
}

TEST(Percentile, IsTheSmallestSampleWithEnoughAtOrBelowIt) {
  EXPECT_TRUE(test::holds("definition of the nearest rank", [] {
    auto numbers = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-50, 50)));
    std::sort(numbers.begin(), numbers.end());
    const int thousandths = *rc::gen::inRange(1, 1001);
    const Values samples(numbers.begin(), numbers.end());
    const double found = percentile(samples, thousandths / 1000.0);
    const auto wanted = static_cast<std::size_t>(thousandths) * samples.size();  // in thousandths of a sample
    const auto at_or_below = std::upper_bound(samples.begin(), samples.end(), found) - samples.begin();
    const auto below = std::lower_bound(samples.begin(), samples.end(), found) - samples.begin();
    RC_ASSERT(1000 * static_cast<std::size_t>(at_or_below) >= wanted);
    RC_ASSERT(1000 * static_cast<std::size_t>(below) < wanted);
  }));
}

TEST(PercentileSupported, NeedsTenSamplesBeyondIt) {
  struct Threshold {
    double quantile;
    std::uint64_t samples;
  };
  for (const Threshold& at : {Threshold{0.5, 20}, Threshold{0.9, 100}, Threshold{0.1, 100}, Threshold{0.99, 1000},
                              Threshold{0.999, 10000}, Threshold{0.9999, 100000}}) {
    EXPECT_TRUE(percentile_supported(at.samples, at.quantile)) << at.quantile;
    EXPECT_FALSE(percentile_supported(at.samples - 1, at.quantile)) << at.quantile;
  }
  EXPECT_FALSE(percentile_supported(0, 0.5));
}

TEST(PercentileSupported, RefusesWhatIsNotAQuantile) {
  for (const double quantile : {0.0, 1.0, 99.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)percentile_supported(1000, quantile), std::invalid_argument) << quantile;
  }
}

}  // namespace
}  // namespace mtuscope::stats
