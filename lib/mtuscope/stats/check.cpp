#include "mtuscope/stats/check.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace mtuscope::stats {

void require_finite(std::span<const double> values, std::string_view function) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw std::invalid_argument(std::string(function) + ": value " + std::to_string(i) + " is " +
                                std::to_string(values[i]) + "; leave out failed points before summarising");
  }
}

void require_coverage(double coverage, std::string_view function) {
  if (coverage > 0.0 && coverage < 1.0) return;
  throw std::invalid_argument(std::string(function) + ": coverage " + std::to_string(coverage) +
                              " is not between 0 and 1; 95 % is 0.95");
}

}  // namespace mtuscope::stats
