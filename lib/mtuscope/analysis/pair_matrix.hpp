#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/analysis/series.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/records/result_set.hpp"

namespace mtuscope::analysis {

/// One measured pair of a matrix; the numbers are those of `PairMatrix::names`.
struct PairValue {
  std::uint32_t initiator = 0;
  std::uint32_t responder = 0;
  double value = 0;                    ///< in the metric's unit
  std::optional<double> half_width{};  ///< the wider half of its interval, relative to the value; empty: too few trials
  friend bool operator==(const PairValue&, const PairValue&) = default;
};

/// A host whose pairs are worse than the others'.
struct SlowHost {
  std::uint32_t name = 0;
  double value = 0;             ///< the median over its pairs
  std::size_t pair_count = 0;   ///< it takes part in
  std::size_t worse_count = 0;  ///< of those, worse than the median host
};

/// Pairs that share what befell them.
struct PairGroup {
  std::size_t count = 0;
  std::vector<Pair> first;  ///< a few of them
};

/// All pairs at one message size and path MTU.
struct PairMatrix {
  Point common;  ///< what all its points share; no pair
  Metric metric = Metric::bandwidth;
  std::vector<std::string> names;  ///< in order of first appearance
  std::vector<PairValue> values;   ///< in order of appearance
  double median = 0;               ///< of the values; 0 without any
  std::vector<PairValue> worst;    ///< a few that are worse than the median, worst first, equal ones by name
  std::optional<PairValue> best;
  std::optional<double> median_half_width;  ///< of the pairs' intervals; empty: none has one
  std::optional<double> widest_half_width;
  std::size_t without_interval_count = 0;     ///< pairs with too few trials for one
  std::vector<SlowHost> slow_hosts;           ///< worst first
  double host_median = 0;                     ///< of the hosts' values
  double host_limit = 0;                      ///< beyond this a host is slow
  bool hosts_decided = false;                 ///< false: too few hosts or pairs to tell a slow one
  std::map<std::string, PairGroup> skipped;   ///< by reason; a path MTU above a port's is one
  std::map<std::string, PairGroup> failed;    ///< by reason
  std::size_t proved_count = 0;               ///< pairs whose path MTU was proved
  std::map<std::string, PairGroup> unproved;  ///< whose path MTU was asked for but not proved, by reason
  PairGroup contradicted;  ///< not taken: their path MTU was not the one asked for, as the proof says
};

/// Sorts the points of a record of pairs into matrices while they pass by; keeps a number and its spread for
/// each.
///
/// A host is slow when the median of its pairs is worse than the median host by more than 3 times the scaled median
/// absolute deviation of the hosts (1.4826 x MAD; C. Leys et al., Detecting outliers, J. Exp. Soc. Psychol. 49 (2013)
/// 764), and by more than 5 % of it, as equal hosts have a MAD near 0; and when nine in ten of its pairs are worse than
/// the median host: it is slow in its whole row. Medians, because a slow host makes one pair of every other host slow.
/// The median host and not the median pair, which is itself a slow one as soon as 3 hosts in 10 are slow: a pair is
/// good only if both ends are. Decided with at least 4 hosts that have at least 3 pairs each.
class PairMatrices {
 public:
  /// `record` has the sessions that the point names; points without a pair are not taken.
  void add(const records::ResultSet& record, const records::PointResult& point);
  /// In the order in which they appeared.
  [[nodiscard]] std::vector<PairMatrix> finish() const;

 private:
  /// What is kept of one matrix.
  struct Gathered {
    PairMatrix matrix;
    std::map<std::string, std::uint32_t> numbers;
  };
  [[nodiscard]] Gathered& find(const Point& point);

  std::vector<Gathered> gathered_;
};

}  // namespace mtuscope::analysis
