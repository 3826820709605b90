#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "mtuscope/stats/distributions.hpp"
#include "property.hpp"

namespace mtuscope::stats {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

// M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", tables 26.1 and 26.5; printed in every text.
TEST(Normal, AgreesWithTheTables) {
  EXPECT_DOUBLE_EQ(normal_cdf(0.0), 0.5);
  EXPECT_NEAR(normal_cdf(1.0), 0.841344746, 5e-10);
  EXPECT_NEAR(normal_cdf(-2.0), 0.022750132, 5e-10);
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 5e-7);
  EXPECT_NEAR(normal_quantile(0.995), 2.575829, 5e-7);
}

// NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, critical values of Student's t.
TEST(StudentT, AgreesWithTheTables) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 4.303, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 5), 2.571, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 10), 1.812, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 30), 2.042, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.99, 7), 2.998, 5e-4);
}

// One degree of freedom is Cauchy's distribution: P(T <= 1) = 3/4.
TEST(StudentT, HasTheClosedFormOfOneDegreeOfFreedom) { EXPECT_NEAR(student_t_cdf(1.0, 1), 0.75, 1e-15); }

// By hand: 10 throws of a coin, P(B <= 2) = (1 + 10 + 45) / 1024; 20 at 0.1, P(B = 0) = 0.9^20.
TEST(Binomial, AgreesWithCountingByHand) {
  EXPECT_NEAR(binomial_cdf(2, 10, 0.5), 56.0 / 1024.0, 1e-14);
  EXPECT_NEAR(binomial_cdf(0, 20, 0.1), std::pow(0.9, 20), 1e-14);
  EXPECT_EQ(binomial_cdf(10, 10, 0.3), 1.0);
  EXPECT_EQ(binomial_cdf(11, 10, 0.3), 1.0);
  EXPECT_EQ(binomial_cdf(0, 0, 0.3), 1.0);
  EXPECT_EQ(binomial_cdf(3, 10, 0.0), 1.0);
  EXPECT_EQ(binomial_cdf(3, 10, 1.0), 0.0);
}

TEST(Distributions, RefuseWhatHasNoAnswer) {
  for (const double probability : {0.0, 1.0, -0.1, 1.1, kNan}) {
    EXPECT_THROW((void)normal_quantile(probability), std::domain_error) << probability;
    EXPECT_THROW((void)student_t_quantile(probability, 5), std::domain_error) << probability;
  }
  for (const double degrees : {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)student_t_quantile(0.9, degrees), std::domain_error) << degrees;
    EXPECT_THROW((void)student_t_cdf(0.9, degrees), std::domain_error) << degrees;
  }
  EXPECT_THROW((void)normal_cdf(kNan), std::domain_error);
  EXPECT_THROW((void)student_t_cdf(kNan, 5), std::domain_error);
  EXPECT_THROW((void)binomial_cdf(1, 5, 1.5), std::domain_error);
  EXPECT_THROW((void)binomial_cdf(1, 5, kNan), std::domain_error);
}

TEST(Distributions, QuantileInvertsTheDistribution) {
  EXPECT_TRUE(test::holds("cdf of quantile", [] {
    const double probability = *rc::gen::inRange(1, 1000) / 1000.0;
    const double degrees = *rc::gen::inRange(1, 200);
    RC_ASSERT(std::abs(normal_cdf(normal_quantile(probability)) - probability) < 1e-12);
    RC_ASSERT(std::abs(student_t_cdf(student_t_quantile(probability, degrees), degrees) - probability) < 1e-9);
  }));
}

}  // namespace
}  // namespace mtuscope::stats
