#include "mtuscope/analysis/crossover.hpp"

namespace mtuscope::analysis {

Lead lead_at(const CurvePoint& first, const CurvePoint& second, Metric metric, const CrossoverPolicy& policy) noexcept {
  const auto ratio = ratio_of(first, second);
  if (!ratio) return Lead::same;
  const auto higher = metric == Metric::bandwidth ? Lead::first : Lead::second;
  const auto lower = metric == Metric::bandwidth ? Lead::second : Lead::first;
  if (ratio->low > 1 && ratio->value > 1 + policy.same_within) return higher;
  if (ratio->high < 1 && ratio->value < 1 / (1 + policy.same_within)) return lower;
  return Lead::same;
}

std::vector<Crossover> crossovers(const Curve& first, const Curve& second, Metric metric,
                                  const CrossoverPolicy& policy) {
  std::vector<Crossover> found;
  const CurvePoint* last = nullptr;  // the last size that decides the state before the next change
  Lead state = Lead::same;
  for (const auto& point : first) {
    const auto* other = find_wire_size(second, point.wire_size_bytes);
    if (other == nullptr) continue;
    const auto lead = lead_at(point, *other, metric, policy);
    if (lead == Lead::same) {
      if (state == Lead::same) last = &point;
      continue;
    }
    if (lead != state && last != nullptr) found.push_back({*last, point, state, lead});
    state = lead;
    last = &point;
  }
  return found;
}

}  // namespace mtuscope::analysis
