#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "mtuscope/stats/bootstrap.hpp"
#include "property.hpp"

namespace mtuscope::stats {
namespace {

using Values = std::vector<double>;
using Groups = std::vector<Values>;
const double kNan = std::numeric_limits<double>::quiet_NaN();

Values ranks(std::size_t count, double offset = 0.0) {
  Values values(count);
  std::iota(values.begin(), values.end(), 1.0 + offset);
  return values;
}

BootstrapSettings few(std::uint64_t seed = 1) { return {.seed = seed, .resamples = 999, .coverage = 0.95}; }

double binomial_term(std::size_t n, std::size_t k, double p) {
  double ways = 1.0;
  for (std::size_t i = 0; i < k; ++i) ways *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  return ways * std::pow(p, static_cast<double>(k)) * std::pow(1.0 - p, static_cast<double>(n - k));
}

/// P(median of a resample <= the k-th smallest of n), n odd: more than half of n draws fall among the first k.
double exact_median_cdf(std::size_t n, std::size_t k) {
  const double p = static_cast<double>(k) / static_cast<double>(n);
  double sum = 0.0;
  for (std::size_t i = (n + 1) / 2; i <= n; ++i) sum += binomial_term(n, i, p);
  return sum;
}

// The bootstrap distribution of a median needs no simulation: B. Efron, "Bootstrap methods: another look at the
// jackknife", Ann. Statist. 7 (1979) 1-26, section 3, prints it for 13 values: the 3rd to 7th smallest are the
// resample's median with these probabilities.
TEST(BootstrapMedian, ExactReferenceAgreesWithEfronsTable) {
  const Values published{0.0142, 0.0550, 0.1242, 0.1936, 0.2230};
  for (std::size_t i = 0; i < published.size(); ++i) {
    EXPECT_NEAR(exact_median_cdf(13, i + 3) - exact_median_cdf(13, i + 2), published[i], 1.5e-4) << i;
  }
}

TEST(BootstrapMedian, HasTheEndsOfTheExactBootstrapDistribution) {
  for (const std::size_t count : {9U, 13U, 25U, 41U}) {
    std::size_t low = 1;
    while (exact_median_cdf(count, low) < 0.025) ++low;
    std::size_t high = 1;
    while (exact_median_cdf(count, high) < 0.975) ++high;
    const auto interval = bootstrap_median(ranks(count), {.seed = 7});
    ASSERT_TRUE(interval.has_value());
    EXPECT_EQ(interval->low, static_cast<double>(low)) << count;
    EXPECT_EQ(interval->high, static_cast<double>(high)) << count;
    EXPECT_EQ(interval->coverage, 0.95);
  }
}

TEST(BootstrapMedian, IsRepeatableAndDependsOnTheSeed) {
  const Values values{1.0, 1.5, 2.7, 3.1, 4.9, 6.2, 8.8, 9.1, 11.3, 17.0};
  const BootstrapSettings rough{.seed = 3, .resamples = 39, .coverage = 0.95};
  const auto once = bootstrap_median(values, rough);
  const auto again = bootstrap_median(values, rough);
  EXPECT_EQ(once->low, again->low);
  EXPECT_EQ(once->high, again->high);
  bool differs = false;
  for (std::uint64_t seed = 4; seed < 24; ++seed) {
    BootstrapSettings other = rough;
    other.seed = seed;
    differs = differs || bootstrap_median(values, other)->low != once->low;
  }
  EXPECT_TRUE(differs);
}

TEST(BootstrapMedian, CutsBothTailsAlike) {
  // Equal seeds draw equal positions, so the mirrored sample has the mirrored interval, to the rank.
  const Values values = ranks(101);
  Values mirrored = values;
  for (double& value : mirrored) value = -value;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const BootstrapSettings rough{.seed = seed, .resamples = 39, .coverage = 0.95};
    const auto interval = bootstrap_median(values, rough);
    const auto mirror = bootstrap_median(mirrored, rough);
    EXPECT_EQ(interval->low, -mirror->high) << seed;
    EXPECT_EQ(interval->high, -mirror->low) << seed;
  }
}

TEST(BootstrapMedian, IsAbsentWhereTheExtremesCoverTooLittle) {
  EXPECT_FALSE(bootstrap_median(Values{}, few()).has_value());
  EXPECT_FALSE(bootstrap_median(ranks(5), few()).has_value());
  EXPECT_TRUE(bootstrap_median(ranks(6), few()).has_value());
}

TEST(BootstrapMedian, OfEqualValuesHasNoWidth) {
  const auto interval = bootstrap_median(Values(8, 4.0), few());
  EXPECT_EQ(interval->low, 4.0);
  EXPECT_EQ(interval->high, 4.0);
}

TEST(BootstrapMedian, RefusesMisuse) {
  EXPECT_THROW((void)bootstrap_median(Values{1, 2, 3, 4, 5, kNan}, few()), std::invalid_argument);
  EXPECT_THROW((void)bootstrap_median(ranks(9), {.coverage = 1.0}), std::invalid_argument);
  // 39 resamples put exactly one in each tail of 2.5 %; 38 put none there.
  EXPECT_NO_THROW((void)bootstrap_median(ranks(9), {.resamples = 39}));
  EXPECT_THROW((void)bootstrap_median(ranks(9), {.resamples = 38}), std::invalid_argument);
}

TEST(BootstrapMedianRatio, CoversARealDifferenceAndNotOne) {
  const auto interval = bootstrap_median_ratio(ranks(9, 199.0), ranks(9, 99.0), few());
  ASSERT_TRUE(interval.has_value());
  EXPECT_LT(interval->low, 204.0 / 104.0);
  EXPECT_GT(interval->high, 204.0 / 104.0);
  EXPECT_GT(interval->low, 1.8);
  EXPECT_LT(interval->high, 2.1);
}

TEST(BootstrapMedianRatio, DrawsTheTwoSidesIndependently) {
  // The same sample on both sides: were each draw reused, every ratio would be exactly 1.
  const auto interval = bootstrap_median_ratio(ranks(9, 99.0), ranks(9, 99.0), few());
  EXPECT_LT(interval->low, 1.0);
  EXPECT_GT(interval->high, 1.0);
}

TEST(BootstrapMedianRatio, NeedsBothSamplesAndPositiveValues) {
  EXPECT_FALSE(bootstrap_median_ratio(ranks(5), ranks(9), few()).has_value());
  EXPECT_FALSE(bootstrap_median_ratio(ranks(9), ranks(5), few()).has_value());
  EXPECT_FALSE(bootstrap_median_ratio(Values{}, Values{}, few()).has_value());
  EXPECT_THROW((void)bootstrap_median_ratio(ranks(9), ranks(9, -1.0), few()), std::invalid_argument);
  EXPECT_THROW((void)bootstrap_median_ratio(ranks(9, -1.0), ranks(9), few()), std::invalid_argument);
  EXPECT_THROW((void)bootstrap_median_ratio(ranks(9), Values{1, 2, kNan}, few()), std::invalid_argument);
}

TEST(ClusterBootstrap, SeesTheSpreadBetweenArrangementsThatAFlatOneMisses) {
  // Twelve trials in each of five arrangements; nearly all spread is between arrangements.
  Groups arrangements;
  Values pooled;
  for (const double level : {100.0, 110.0, 120.0, 130.0, 140.0}) {
    arrangements.push_back(ranks(12, level));
    pooled.insert(pooled.end(), arrangements.back().begin(), arrangements.back().end());
  }
  const auto cluster = cluster_bootstrap_median(arrangements, few());
  const auto flat = bootstrap_median(pooled, few());
  EXPECT_GT(cluster->high - cluster->low, 1.4 * (flat->high - flat->low));
}

TEST(ClusterBootstrap, OfIdenticalTrialsDrawsArrangementsExactly) {
  // Three arrangements without spread inside: 7 of 27 draws have their median at each end, 13 in the middle.
  const Groups arrangements{{1.0, 1.0}, {2.0, 2.0}, {3.0, 3.0}};
  const auto wide = cluster_bootstrap_median(arrangements, {.coverage = 0.5});  // tails of 25 % < 7 / 27
  EXPECT_EQ(wide->low, 1.0);
  EXPECT_EQ(wide->high, 3.0);
  const auto narrow = cluster_bootstrap_median(arrangements, {.coverage = 0.44});  // tails of 28 % > 7 / 27
  EXPECT_EQ(narrow->low, 2.0);
  EXPECT_EQ(narrow->high, 2.0);
}

TEST(ClusterBootstrap, NeedsThreeArrangementsWithValues) {
  EXPECT_FALSE(cluster_bootstrap_median(Groups{}, few()).has_value());
  EXPECT_FALSE(cluster_bootstrap_median(Groups{ranks(9), ranks(9), {}}, few()).has_value());
  EXPECT_TRUE(cluster_bootstrap_median(Groups{ranks(9), {}, ranks(9), ranks(1)}, few()).has_value());
  const Groups two{ranks(9), ranks(9)};
  const Groups three{ranks(9), ranks(9), ranks(9)};
  EXPECT_FALSE(cluster_bootstrap_median_ratio(two, three, few()).has_value());
  EXPECT_FALSE(cluster_bootstrap_median_ratio(three, two, few()).has_value());
  EXPECT_TRUE(cluster_bootstrap_median_ratio(three, three, few()).has_value());
}

TEST(ClusterBootstrap, RefusesMisuse) {
  const Groups good{ranks(3), ranks(3), ranks(3)};
  const Groups not_a_number{ranks(3), {kNan}, ranks(3)};
  const Groups zero{ranks(3), {0.0}, ranks(3)};
  EXPECT_THROW((void)cluster_bootstrap_median(not_a_number, few()), std::invalid_argument);
  EXPECT_THROW((void)cluster_bootstrap_median_ratio(good, not_a_number, few()), std::invalid_argument);
  EXPECT_THROW((void)cluster_bootstrap_median_ratio(zero, good, few()), std::invalid_argument);
  EXPECT_THROW((void)cluster_bootstrap_median(good, {.resamples = 5}), std::invalid_argument);
}

TEST(ClusterBootstrap, RatioScalesWithTheNumerator) {
  const Groups base{{100, 102, 101}, {110, 111, 112}, {95, 97, 96}};
  Groups doubled = base;
  for (Values& arrangement : doubled) {
    for (double& value : arrangement) value *= 2.0;
  }
  const auto once = cluster_bootstrap_median_ratio(base, base, few());
  const auto twice = cluster_bootstrap_median_ratio(doubled, base, few());
  EXPECT_DOUBLE_EQ(twice->low, 2.0 * once->low);
  EXPECT_DOUBLE_EQ(twice->high, 2.0 * once->high);
}

TEST(Bootstrap, StaysWithinTheValuesItDrewFrom) {
  EXPECT_TRUE(test::holds("range", [] {
    const auto numbers = *rc::gen::container<std::vector<int>>(9, rc::gen::inRange(1, 1000));
    const Values values(numbers.begin(), numbers.end());
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const BootstrapSettings settings{.seed = *rc::gen::arbitrary<std::uint64_t>(), .resamples = 99};
    const auto interval = bootstrap_median(values, settings);
    RC_ASSERT(*least <= interval->low && interval->low <= interval->high && interval->high <= *most);
    const auto ratio = bootstrap_median_ratio(values, values, settings);
    RC_ASSERT(*least / *most <= ratio->low && ratio->high <= *most / *least);
  }));
}

}  // namespace
}  // namespace mtuscope::stats
