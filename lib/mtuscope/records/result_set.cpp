#include "mtuscope/records/result_set.hpp"

#include <utility>

namespace mtuscope::records {

std::vector<PointResult> take_results(sweep::RunResult& run) {
  std::vector<PointResult> results;
  results.reserve(run.points.size());
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    results.push_back({std::move(run.points[i]), std::move(run.outcomes[i])});
  }
  return results;
}

}  // namespace mtuscope::records
