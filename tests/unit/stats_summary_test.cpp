#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "mtuscope/stats/summary.hpp"
#include "property.hpp"

namespace mtuscope::stats {
namespace {

using Values = std::vector<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 1, 2, ... count, so that an order statistic's value is its rank.
Values ranks(std::size_t count) {
  Values values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

/// Finite doubles of a size measurements have, ties included.
Values to_values(const std::vector<int>& numbers) { return {numbers.begin(), numbers.end()}; }

TEST(Median, IsTheMiddleOrTheAverageOfTheMiddleTwo) {
  EXPECT_EQ(median(Values{7.0}), 7.0);
  EXPECT_EQ(median(Values{3.0, 1.0}), 2.0);
  EXPECT_EQ(median(Values{9.0, 1.0, 5.0}), 5.0);
  EXPECT_EQ(median(Values{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_EQ(median(Values{2.0, 2.0, 2.0, 8.0}), 2.0);
}

TEST(Median, RefusesNothingAndNonNumbers) {
  EXPECT_THROW((void)median(Values{}), std::invalid_argument);
  EXPECT_THROW((void)median(Values{1.0, kNan, 2.0}), std::invalid_argument);
  EXPECT_THROW((void)median(Values{1.0, kInfinity}), std::invalid_argument);
}

TEST(Median, HalfTheValuesLieOnEitherSide) {
  EXPECT_TRUE(test::holds("median halves", [](const std::vector<int>& numbers) {
    RC_PRE(!numbers.empty());
    const Values values = to_values(numbers);
    const double centre = median(values);
    const auto above = std::count_if(values.begin(), values.end(), [&](double v) { return v > centre; });
    const auto below = std::count_if(values.begin(), values.end(), [&](double v) { return v < centre; });
    RC_ASSERT(2 * static_cast<std::size_t>(above) <= values.size());
    RC_ASSERT(2 * static_cast<std::size_t>(below) <= values.size());
  }));
}

// NIST/SEMATECH e-Handbook of Statistical Methods, statistical reference data sets, univariate summary statistics:
// NumAcc1 certifies mean 10000002 and standard deviation 1 for these three; a naive sum of squares loses them.
TEST(StandardDeviation, KeepsItsDigitsWhenTheSpreadIsSmallBesideTheMean) {
  const Values num_acc_1{10000001.0, 10000003.0, 10000002.0};
  EXPECT_DOUBLE_EQ(mean(num_acc_1), 10000002.0);
  EXPECT_DOUBLE_EQ(sample_standard_deviation(num_acc_1).value(), 1.0);
}

// Same source, NumAcc3: 1000000.2, then 1000000.1 and 1000000.3 500 times each: mean 1000000.2, deviation 0.1.
TEST(StandardDeviation, AgreesWithACertifiedSetOfAThousandAndOne) {
  Values num_acc_3{1000000.2};
  for (int i = 0; i < 500; ++i) num_acc_3.insert(num_acc_3.end(), {1000000.1, 1000000.3});
  EXPECT_NEAR(mean(num_acc_3), 1000000.2, 1e-9);
  EXPECT_NEAR(sample_standard_deviation(num_acc_3).value(), 0.1, 1e-9);
}

TEST(StandardDeviation, NeedsTwoValues) {
  EXPECT_FALSE(sample_standard_deviation(Values{}).has_value());
  EXPECT_FALSE(sample_standard_deviation(Values{5.0}).has_value());
  EXPECT_EQ(sample_standard_deviation(Values{5.0, 5.0}), 0.0);
  EXPECT_THROW((void)sample_standard_deviation(Values{kNan}), std::invalid_argument);
  EXPECT_THROW((void)mean(Values{}), std::invalid_argument);
}

TEST(CoefficientOfVariation, IsRelativeToTheMagnitudeOfTheMean) {
  EXPECT_DOUBLE_EQ(coefficient_of_variation(Values{9.0, 10.0, 11.0}).value(), 0.1);
  EXPECT_DOUBLE_EQ(coefficient_of_variation(Values{-9.0, -10.0, -11.0}).value(), 0.1);
  EXPECT_EQ(coefficient_of_variation(Values{4.0, 4.0}), 0.0);
  EXPECT_FALSE(coefficient_of_variation(Values{4.0}).has_value());
  EXPECT_FALSE(coefficient_of_variation(Values{-1.0, 1.0}).has_value());
}

struct PublishedRank {
  std::size_t count;
  std::size_t low_rank;
  std::size_t high_rank;
  double coverage_percent;  // as printed, one decimal
};

// "Confidence Intervals for the Population Median", the textbook table of ranks and confidence levels by n (5 to 20):
// the first line of each n at 95 % or more, narrowest. Its levels follow from the binomial distribution and can be
// recomputed by hand: n = 6 gives 1 - 2 / 2^6 = 0.969.
TEST(MedianInterval, HasTheRanksAndLevelsOfThePublishedTable) {
  const std::vector<PublishedRank> table{{6, 1, 6, 96.9},   {7, 1, 7, 98.4},   {8, 1, 8, 99.2},   {9, 2, 8, 96.1},
                                         {10, 2, 9, 97.9},  {11, 2, 10, 98.8}, {12, 3, 10, 96.1}, {13, 3, 11, 97.8},
                                         {14, 3, 12, 98.7}, {15, 4, 12, 96.5}, {16, 4, 13, 97.9}, {17, 5, 13, 95.1},
                                         {18, 5, 14, 96.9}, {19, 5, 15, 98.1}, {20, 6, 15, 95.9}};
  for (const PublishedRank& row : table) {
    const std::optional<Interval> interval = median_interval(ranks(row.count));
    ASSERT_TRUE(interval.has_value()) << row.count;
    EXPECT_EQ(interval->low, static_cast<double>(row.low_rank)) << row.count;
    EXPECT_EQ(interval->high, static_cast<double>(row.high_rank)) << row.count;
    EXPECT_NEAR(100.0 * interval->coverage, row.coverage_percent, 0.0501) << row.count;
  }
}

// The same table at other levels: n = 8 [2, 7] 93.0 % (1 - 18 / 256 = 0.9297), n = 20 [7, 14] 88.5 %, n = 5 [1, 5]
// 93.8 %.
TEST(MedianInterval, FollowsTheCoverageAskedFor) {
  EXPECT_EQ(median_interval(ranks(8), 0.9296)->low, 2.0);
  EXPECT_EQ(median_interval(ranks(8), 0.931)->low, 1.0);
  EXPECT_EQ(median_interval(ranks(20), 0.88)->high, 14.0);
  EXPECT_TRUE(median_interval(ranks(5), 0.93).has_value());
}

TEST(MedianInterval, TakesARankWhoseCoverageIsExactlyTheOneAskedFor) {
  for (std::size_t count = 2; count <= 50; ++count) {
    double term = std::ldexp(1.0, -static_cast<int>(count));  // P(B = 0); sums of these are exact in a double
    double below = 0.0;
    for (std::size_t rank = 1; rank <= count / 2; ++rank) {
      below += term;
      term = term * static_cast<double>(count - rank + 1) / static_cast<double>(rank);
      if (1.0 - 2.0 * below <= 0.0) break;
      const std::optional<Interval> interval = median_interval(ranks(count), 1.0 - 2.0 * below);
      ASSERT_TRUE(interval.has_value()) << count << ' ' << rank;
      EXPECT_EQ(interval->low, static_cast<double>(rank)) << count;
    }
  }
}

TEST(MedianInterval, IsAbsentBelowSixValuesAtNinetyFivePercent) {
  for (const std::size_t count : {0U, 1U, 2U, 5U}) {
    EXPECT_FALSE(median_interval(ranks(count)).has_value()) << count;
    EXPECT_FALSE(median_interval_exists(count)) << count;
  }
  EXPECT_TRUE(median_interval_exists(6));
}

TEST(MedianInterval, TakesAnyOrderAndTies) {
  const std::optional<Interval> interval = median_interval(Values{6.0, 1.0, 3.0, 2.0, 5.0, 4.0});
  EXPECT_EQ(interval->low, 1.0);
  EXPECT_EQ(interval->high, 6.0);
  const std::optional<Interval> equal = median_interval(Values(9, 2.5));
  EXPECT_EQ(equal->low, 2.5);
  EXPECT_EQ(equal->high, 2.5);
}

TEST(MedianInterval, RefusesNonNumbersAndImpossibleCoverage) {
  EXPECT_THROW((void)median_interval(Values{1, 2, 3, 4, 5, kNan}), std::invalid_argument);
  for (const double coverage : {0.0, 1.0, -0.5, 95.0, kNan}) {
    EXPECT_THROW((void)median_interval(ranks(9), coverage), std::invalid_argument) << coverage;
  }
}

TEST(MedianInterval, HoldsTheMedianAndTheNextNarrowerRankWouldCoverTooLittle) {
  EXPECT_TRUE(test::holds("narrowest sufficient interval", [] {
    const auto count = *rc::gen::inRange<std::size_t>(6, 2000);
    const std::optional<Interval> interval = median_interval(ranks(count));
    RC_ASSERT(interval.has_value());
    RC_ASSERT(interval->coverage >= 0.95);
    RC_ASSERT(interval->low <= median(ranks(count)) && median(ranks(count)) <= interval->high);
    RC_ASSERT(interval->low + interval->high == static_cast<double>(count) + 1.0);
    // One rank further in loses the two binomial terms at `low`, computed here without the code under test.
    const auto n = static_cast<double>(count);
    const double k = interval->low;
    const double term = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
    RC_ASSERT(interval->coverage - 2.0 * term < 0.95);
  }));
}

TEST(RelativeIntervalWidth, IsTheWidthOverTheCentresMagnitude) {
  EXPECT_DOUBLE_EQ(relative_interval_width({99.0, 101.0, 0.95}, 100.0), 0.02);
  EXPECT_DOUBLE_EQ(relative_interval_width({-101.0, -99.0, 0.95}, -100.0), 0.02);
  EXPECT_EQ(relative_interval_width({5.0, 5.0, 0.95}, 5.0), 0.0);
  EXPECT_EQ(relative_interval_width({0.0, 0.0, 0.95}, 0.0), 0.0);
  EXPECT_EQ(relative_interval_width({-1.0, 1.0, 0.95}, 0.0), kInfinity);
  EXPECT_THROW((void)relative_interval_width({1.0, 2.0, 0.95}, kNan), std::invalid_argument);
}

}  // namespace
}  // namespace mtuscope::stats
