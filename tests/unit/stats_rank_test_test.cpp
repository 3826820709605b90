#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "mtuscope/stats/rank_test.hpp"
#include "property.hpp"

namespace mtuscope::stats {
namespace {

using Values = std::vector<double>;
const double kNan = std::numeric_limits<double>::quiet_NaN();

// Permeability constants, M. Hollander, D. A. Wolfe, "Nonparametric Statistical Methods", 1973, p. 69; R's wilcox.test
// prints W = 35 and a one-sided exact p of 0.1272, twice that two-sided.
TEST(MannWhitney, AgreesWithThePublishedPermeabilityExample) {
  const Values term{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Values early{1.15, 0.88, 0.90, 0.74, 1.21};
  const RankTest test = mann_whitney(term, early);
  EXPECT_EQ(test.u, 35.0);
  EXPECT_TRUE(test.exact);
  EXPECT_NEAR(test.p_value, 2 * 0.1272, 1e-4);
}

// Ozone in May and August of R's data set airquality (26 days each, with ties); R's wilcox.test prints W = 127.5 and
// p = 0.0001208 from the normal approximation with tie and continuity correction.
TEST(MannWhitney, AgreesWithThePublishedOzoneExampleWithTies) {
  const Values may{41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37};
  const Values august{39, 9,  16, 78, 35, 66, 122, 89,  110, 44, 28,  65, 22,
                      59, 23, 31, 44, 21, 9,  45,  168, 73,  76, 118, 84, 85};
  const RankTest test = mann_whitney(may, august);
  EXPECT_EQ(test.u, 127.5);
  EXPECT_FALSE(test.exact);
  EXPECT_NEAR(test.p_value, 0.0001208, 5e-8);
}

/// Two samples without ties whose U is exactly `u`.
RankTest test_with_u(std::size_t first_size, std::size_t second_size, std::size_t u) {
  // Start with all of the first sample below the second; lifting one value past one of the other side adds one to U.
  Values second(second_size);
  std::iota(second.begin(), second.end(), 1.0);
  Values first;
  for (std::size_t i = 0; i < first_size; ++i) {
    const std::size_t passed = std::min(u, second_size);
    u -= passed;
    first.push_back(static_cast<double>(passed) + 0.5 + 0.001 * static_cast<double>(i));
  }
  return mann_whitney(first, second);
}

struct CriticalValue {
  std::size_t first_size;
  std::size_t second_size;
  std::size_t u;
};

// Largest U significant at 5 % two-tailed, from the standard table (e.g. S. Siegel, "Nonparametric Statistics", 1956,
// table K; 20 x 20 gives the well-known 127).
TEST(MannWhitney, AgreesWithTheTableOfCriticalValues) {
  for (const CriticalValue& row :
       {CriticalValue{4, 4, 0}, CriticalValue{5, 5, 2}, CriticalValue{6, 6, 5}, CriticalValue{7, 7, 8},
        CriticalValue{8, 8, 13}, CriticalValue{9, 9, 17}, CriticalValue{10, 10, 23}, CriticalValue{5, 8, 6},
        CriticalValue{8, 12, 22}, CriticalValue{13, 16, 59}, CriticalValue{15, 15, 64}, CriticalValue{20, 20, 127}}) {
    const RankTest at = test_with_u(row.first_size, row.second_size, row.u);
    const RankTest beyond = test_with_u(row.first_size, row.second_size, row.u + 1);
    ASSERT_EQ(at.u, static_cast<double>(row.u));
    ASSERT_TRUE(at.exact);
    EXPECT_LE(at.p_value, 0.05) << row.first_size << " x " << row.second_size;
    EXPECT_GT(beyond.p_value, 0.05) << row.first_size << " x " << row.second_size;
  }
}

// The sample sizes the defaults rest on: 3 a side can never reach 5 %, and 7 a side is the least that survives Holm's
// first step over 60 sizes (p = 2 / C(2n, n)).
TEST(MannWhitney, OfCompleteSeparationIsTwoInTheNumberOfSplits) {
  EXPECT_NEAR(test_with_u(3, 3, 0).p_value, 2.0 / 20.0, 1e-15);
  EXPECT_NEAR(test_with_u(6, 6, 0).p_value, 2.0 / 924.0, 1e-15);
  EXPECT_NEAR(test_with_u(7, 7, 0).p_value, 2.0 / 3432.0, 1e-15);
  EXPECT_GT(60 * test_with_u(6, 6, 0).p_value, 0.05);
  EXPECT_LT(60 * test_with_u(7, 7, 0).p_value, 0.05);
}

TEST(MannWhitney, SwitchesToTheApproximationWithoutAJump) {
  const RankTest exact = test_with_u(20, 20, 127);
  const RankTest approximate = test_with_u(20, 21, 134);
  ASSERT_TRUE(exact.exact);
  ASSERT_FALSE(approximate.exact);
  // By hand for 20 x 20: z = (200 - 127 - 0.5) / sqrt(400 x 41 / 12) = 1.9612, p = 0.04986.
  EXPECT_NEAR(exact.p_value, 0.04986, 1e-3);
  // z = (210 - 134 - 0.5) / sqrt(420 x 42 / 12) = 1.9692, p = 0.04893.
  EXPECT_NEAR(approximate.p_value, 0.04893, 5e-5);
}

TEST(MannWhitney, OfTiesOnlyIsOne) {
  EXPECT_EQ(mann_whitney(Values(3, 1.0), Values(4, 1.0)).p_value, 1.0);
  EXPECT_EQ(mann_whitney(Values(30, 1.0), Values(40, 1.0)).p_value, 1.0);
  EXPECT_EQ(mann_whitney(Values{1.0}, Values{2.0}).p_value, 1.0);
  EXPECT_EQ(mann_whitney(Values(3, 1.0), Values(4, 1.0)).u, 6.0);
}

TEST(MannWhitney, RefusesEmptySamplesAndNonNumbers) {
  EXPECT_THROW((void)mann_whitney(Values{}, Values{1.0}), std::invalid_argument);
  EXPECT_THROW((void)mann_whitney(Values{1.0}, Values{}), std::invalid_argument);
  EXPECT_THROW((void)mann_whitney(Values{1.0, kNan}, Values{1.0}), std::invalid_argument);
  EXPECT_THROW((void)mann_whitney(Values{1.0}, Values{kNan}), std::invalid_argument);
}

double count_pairs(const Values& first, const Values& second) {
  double u = 0.0;
  for (const double a : first) {
    for (const double b : second) u += a > b ? 1.0 : (a == b ? 0.5 : 0.0);
  }
  return u;
}

/// Share of all splits of the pooled values whose U is at least as far from the middle; no ranks, no sums.
double brute_force_p(const Values& first, const Values& second) {
  Values pooled = first;
  pooled.insert(pooled.end(), second.begin(), second.end());
  const double middle = static_cast<double>(first.size() * second.size()) / 2.0;
  const double seen = std::abs(count_pairs(first, second) - middle);
  double extreme = 0.0;
  double total = 0.0;
  for (unsigned split = 0; split < (1U << pooled.size()); ++split) {
    if (static_cast<std::size_t>(std::popcount(split)) != first.size()) continue;
    std::array<Values, 2> sides;
    for (std::size_t i = 0; i < pooled.size(); ++i) sides[(split >> i) & 1U].push_back(pooled[i]);
    ++total;
    if (std::abs(count_pairs(sides[1], sides[0]) - middle) >= seen) ++extreme;
  }
  return extreme / total;
}

TEST(MannWhitney, ExactValueIsTheCountOverAllSplits) {
  EXPECT_TRUE(test::holds("brute force, ties included", [] {
    const auto sample = rc::gen::mapcat(rc::gen::inRange<std::size_t>(1, 6), [](std::size_t size) {
      return rc::gen::container<std::vector<int>>(size, rc::gen::inRange(0, 8));
    });
    const auto a = *sample;
    const auto b = *sample;
    const Values first(a.begin(), a.end());
    const Values second(b.begin(), b.end());
    const RankTest test = mann_whitney(first, second);
    RC_ASSERT(test.u == count_pairs(first, second));
    RC_ASSERT(std::abs(test.p_value - brute_force_p(first, second)) < 1e-12);
  }));
}

TEST(MannWhitney, DoesNotCareWhichSampleComesFirstNorAboutAMonotoneScale) {
  EXPECT_TRUE(test::holds("symmetry", [] {
    const auto sample = rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-20, 20)));
    const auto a = *sample;
    const auto b = *sample;
    Values first(a.begin(), a.end());
    Values second(b.begin(), b.end());
    const RankTest test = mann_whitney(first, second);
    const RankTest swapped = mann_whitney(second, first);
    RC_ASSERT(test.p_value > 0.0 && test.p_value <= 1.0);
    RC_ASSERT(std::abs(test.p_value - swapped.p_value) < 1e-12);
    RC_ASSERT(test.u + swapped.u == static_cast<double>(a.size() * b.size()));
    for (Values* values : {&first, &second}) {
      for (double& value : *values) value = std::exp(value);
    }
    RC_ASSERT(mann_whitney(first, second).p_value == test.p_value);
  }));
}

// The worked example of the Wikipedia article "Holm-Bonferroni method": 0.01, 0.04, 0.03, 0.005 at 5 % reject the first
// and the last; adjusted values by the definition.
TEST(Holm, AgreesWithTheWorkedExample) {
  const Values adjusted = holm_adjust(Values{0.01, 0.04, 0.03, 0.005});
  const Values expected{0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-15) << i;
}

TEST(Holm, TakesNoneOneAndTies) {
  EXPECT_TRUE(holm_adjust(Values{}).empty());
  EXPECT_EQ(holm_adjust(Values{0.2}), Values{0.2});
  EXPECT_EQ(holm_adjust(Values{0.25, 0.25}), (Values{0.5, 0.5}));
  EXPECT_EQ(holm_adjust(Values{0.0, 1.0, 0.9}), (Values{0.0, 1.0, 1.0}));
}

TEST(Holm, RefusesWhatIsNotAProbability) {
  for (const double p : {-0.1, 1.1, kNan}) EXPECT_THROW((void)holm_adjust(Values{0.5, p}), std::invalid_argument) << p;
}

TEST(Holm, LiesBetweenThePlainAndTheBonferroniValueInTheSameOrder) {
  EXPECT_TRUE(test::holds("bounds and order", [] {
    const auto thousandths = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1001));
    Values p_values;
    for (const int value : thousandths) p_values.push_back(value / 1000.0);
    const Values adjusted = holm_adjust(p_values);
    const auto count = static_cast<double>(p_values.size());
    for (std::size_t i = 0; i < p_values.size(); ++i) {
      RC_ASSERT(p_values[i] <= adjusted[i] && adjusted[i] <= std::min(1.0, count * p_values[i]));
      for (std::size_t j = 0; j < p_values.size(); ++j) {
        if (p_values[i] <= p_values[j]) RC_ASSERT(adjusted[i] <= adjusted[j]);
      }
    }
  }));
}

}  // namespace
}  // namespace mtuscope::stats
