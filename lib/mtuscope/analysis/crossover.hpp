#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mtuscope/analysis/series.hpp"

namespace mtuscope::analysis {

/// Which of two curves leads at a size.
enum class Lead : std::uint8_t { same, first, second };

struct CrossoverPolicy {
  /// Relative difference up to which two values count as the same, whatever their intervals say. 0.5 %: below any
  /// difference between path MTUs in the posted tables (smallest: 3.2 %), above the 0.1 % by which two posted values
  /// that their author calls "the same" differ.
  double same_within = 0.005;
};

/// A change of the lead between two neighbouring decided sizes; it happened somewhere in between.
struct Crossover {
  CurvePoint below;  ///< of the first curve: the last size with the old state
  CurvePoint above;  ///< of the first curve: the first size with the new state
  Lead before = Lead::same;
  Lead after = Lead::same;
};

/// Who leads at one size: by more than the policy asks, and with the intervals clear of each other.
[[nodiscard]] Lead lead_at(const CurvePoint& first, const CurvePoint& second, Metric metric,
                           const CrossoverPolicy& policy) noexcept;

/// Every change of the lead over the wire sizes both curves have: from the start "same" to the first lead, and from one
/// lead to the other. Sizes where neither leads only widen the bracket.
[[nodiscard]] std::vector<Crossover> crossovers(const Curve& first, const Curve& second, Metric metric,
                                                const CrossoverPolicy& policy = {});

}  // namespace mtuscope::analysis
