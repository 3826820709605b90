#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "mtuscope/stats/variance_components.hpp"
#include "property.hpp"

namespace mtuscope::stats {
namespace {

using Groups = std::vector<std::vector<double>>;

// Yield of dyestuff, 6 batches of 5 preparations: O. L. Davies, "Statistical Methods in Research and Production"
// (also G. E. P. Box, G. C. Tiao, "Bayesian Inference in Statistical Analysis", 1973, table 5.1.2, and data set
// Dyestuff of R's lme4, whose REML fit prints 1764.05 and 2451.25; for equal group sizes REML is the ANOVA estimate).
TEST(VarianceComponents, AgreeWithThePublishedDyestuffBatches) {
  const Groups batches{{1545, 1440, 1440, 1520, 1580}, {1540, 1555, 1490, 1560, 1495}, {1595, 1550, 1605, 1510, 1560},
                       {1445, 1440, 1595, 1465, 1545}, {1595, 1630, 1515, 1635, 1625}, {1520, 1455, 1450, 1480, 1445}};
  const auto components = variance_components(batches);
  ASSERT_TRUE(components.has_value());
  EXPECT_NEAR(components->within, 2451.25, 1e-6);
  EXPECT_NEAR(components->between, 1764.05, 1e-6);
  EXPECT_EQ(components->groups, 6U);
}

// Unequal sizes: conceptions (%) from inseminations by 6 bulls, G. W. Snedecor, W. G. Cochran, "Statistical Methods":
// mean squares 664 and 248, n0 = 5.67, between = (664 - 248) / 5.67 = 73.
TEST(VarianceComponents, AgreeWithThePublishedBullsOfUnequalGroupSizes) {
  const Groups bulls{{46, 31, 37, 62, 30},         {70, 59},
                     {52, 44, 57, 40, 67, 64, 70}, {47, 21, 70, 46, 14},
                     {42, 64, 50, 69, 77, 81, 87}, {35, 68, 59, 38, 57, 76, 57, 29, 60}};
  const auto components = variance_components(bulls);
  ASSERT_TRUE(components.has_value());
  EXPECT_NEAR(components->within, 248.0, 0.5);
  EXPECT_NEAR(components->between, 73.0, 0.5);
}

TEST(VarianceComponents, NeverGoBelowZero) {
  const auto components = variance_components(Groups{{1.0, 5.0}, {5.0, 1.0}, {3.0, 3.0}});
  ASSERT_TRUE(components.has_value());
  EXPECT_GT(components->within, 0.0);
  EXPECT_EQ(components->between, 0.0);
}

TEST(VarianceComponents, OfNoSpreadAreZero) {
  const auto components = variance_components(Groups{{2.0, 2.0}, {2.0}});
  ASSERT_TRUE(components.has_value());
  EXPECT_EQ(components->within, 0.0);
  EXPECT_EQ(components->between, 0.0);
}

TEST(VarianceComponents, PutAllSpreadBetweenWhenTrialsRepeatExactly) {
  const auto components = variance_components(Groups{{1.0, 1.0}, {3.0, 3.0}});
  ASSERT_TRUE(components.has_value());
  EXPECT_EQ(components->within, 0.0);
  EXPECT_DOUBLE_EQ(components->between, 2.0);  // the variance of 1 and 3
}

TEST(VarianceComponents, LeaveOutEmptyArrangements) {
  const auto components = variance_components(Groups{{1.0, 1.0}, {}, {3.0, 3.0}});
  ASSERT_TRUE(components.has_value());
  EXPECT_EQ(components->groups, 2U);
  EXPECT_DOUBLE_EQ(components->between, 2.0);
}

TEST(VarianceComponents, AreAbsentWhereTheyCannotBeToldApart) {
  EXPECT_FALSE(variance_components(Groups{}).has_value());
  EXPECT_FALSE(variance_components(Groups{{1.0, 2.0, 3.0}}).has_value());
  EXPECT_FALSE(variance_components(Groups{{1.0, 2.0}, {}}).has_value());
  EXPECT_FALSE(variance_components(Groups{{1.0}, {2.0}, {3.0}}).has_value());
}

TEST(VarianceComponents, RefuseNonNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)variance_components(Groups{{1.0, 2.0}, {nan, 2.0}}), std::invalid_argument);
}

TEST(VarianceComponents, IgnoreAnOffsetAndSquareAScale) {
  EXPECT_TRUE(test::holds("affine", [] {
    const auto number = rc::gen::container<std::vector<double>>(
        4, rc::gen::map(rc::gen::inRange(-1000, 1000), [](int v) { return double(v); }));
    const Groups groups{*number, *number, *number};
    Groups moved = groups;
    for (auto& group : moved) {
      for (double& value : group) value = 3.0 * value + 500.0;
    }
    const auto before = variance_components(groups);
    const auto after = variance_components(moved);
    const double tolerance = 1e-9 * (1.0 + after->within + after->between);
    RC_ASSERT(std::abs(after->within - 9.0 * before->within) <= tolerance);
    RC_ASSERT(std::abs(after->between - 9.0 * before->between) <= tolerance);
  }));
}

}  // namespace
}  // namespace mtuscope::stats
