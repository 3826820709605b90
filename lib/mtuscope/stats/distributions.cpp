#include "mtuscope/stats/distributions.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mtuscope::stats {
namespace {

void require(bool valid, const char* function, const char* rule) {
  if (!valid) throw std::domain_error(std::string(function) + ": " + rule);
}

// Boost reports 0 and 1 as overflow; here they are refused like any other probability without a quantile.
bool has_quantile(double probability) { return probability > 0.0 && probability < 1.0; }

bool valid_degrees(double degrees) { return std::isfinite(degrees) && degrees > 0.0; }

}  // namespace

double normal_cdf(double z) {
  require(!std::isnan(z), "normal_cdf", "z is not a number");
  return boost::math::cdf(boost::math::normal_distribution<double>(), z);
}

double normal_quantile(double probability) {
  require(has_quantile(probability), "normal_quantile", "probability must be between 0 and 1");
  return boost::math::quantile(boost::math::normal_distribution<double>(), probability);
}

double student_t_cdf(double t, double degrees_of_freedom) {
  require(!std::isnan(t), "student_t_cdf", "t is not a number");
  require(valid_degrees(degrees_of_freedom), "student_t_cdf", "degrees of freedom must be positive and finite");
  return boost::math::cdf(boost::math::students_t_distribution<double>(degrees_of_freedom), t);
}

double student_t_quantile(double probability, double degrees_of_freedom) {
  require(has_quantile(probability), "student_t_quantile", "probability must be between 0 and 1");
  require(valid_degrees(degrees_of_freedom), "student_t_quantile", "degrees of freedom must be positive and finite");
  return boost::math::quantile(boost::math::students_t_distribution<double>(degrees_of_freedom), probability);
}

double binomial_cdf(std::size_t successes, std::size_t trials, double probability) {
  require(probability >= 0.0 && probability <= 1.0, "binomial_cdf", "probability must be from 0 to 1");
  if (successes >= trials) return 1.0;
  const boost::math::binomial_distribution<double> distribution(static_cast<double>(trials), probability);
  return boost::math::cdf(distribution, static_cast<double>(successes));
}

}  // namespace mtuscope::stats
