#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mtuscope/analysis/series.hpp"
#include "mtuscope/records/result_set.hpp"

namespace mtuscope::analysis {

/// One value of a table beside the run's value at the same wire size and path MTU.
struct PostedPair {
  PathMtu path_mtu = PathMtu::mtu1024;
  CurvePoint posted;
  CurvePoint ours;
  double residual_fraction = 0;  ///< (ours - posted) / posted
};

/// A value of the table that the run has no partner for.
struct Unpaired {
  PathMtu path_mtu = PathMtu::mtu1024;
  CurvePoint posted;
};

/// One series of the table beside one comparable series of the run.
struct PostedComparison {
  Point table_common;
  Point run_common;
  Metric metric = Metric::bandwidth;
  Series run;    ///< all of the run's points, those between the posted sizes too
  Series table;  ///< all of the table's points
  std::vector<PostedPair> pairs;
  std::vector<Unpaired> unpaired;
};

/// What could be compared, and, when nothing could, why not.
struct PostedResult {
  std::vector<PostedComparison> comparisons;  ///< only such with at least one pair
  std::string refusal;                        ///< a sentence; empty unless `comparisons` is
};

/// Why a run's series must not be compared with a table's, or nothing: patterns differ (a stream keeps many messages
/// in flight, a ping-pong one), operations differ, connections differ. An MPI table and an RC run may be compared on
/// wire sizes, because MPI of that time ran over RC; the header and MPI's own cost are then in the residual.
[[nodiscard]] std::string incompatibility(const Point& run, const Point& table);

/// Pairs the points of `run` with those of `table` on pattern, connection, operation, wire size and path MTU.
[[nodiscard]] PostedResult compare_with_table(const records::ResultSet& run, const records::ResultSet& table);

}  // namespace mtuscope::analysis
