#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/core/outcome.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/sweep/sink.hpp"
#include "mtuscope/sweep/spec.hpp"

namespace mtuscope::records {

/// Where a posted or imported table comes from.
struct Provenance {
  std::string id;  ///< "tavor-mpi-2006"
  std::string title;
  std::string reference;                ///< mail, paper, repository and revision
  std::vector<std::string> not_stated;  ///< what the source leaves open
  std::vector<std::string> claims;      ///< what it concludes in words
  std::string note;
};

/// One rank of a run that measured pairs of ranks.
struct RankEnvironment {
  std::string name;  ///< of its host; "host:rank" where a host has several ranks. The pairs of points name it
  Environment environment;
};

/// Which pairs of ranks were to be measured, and how many together.
struct PairPlan {
  std::string schedule;  ///< all, ring, halves or list:FILE
  bool both_directions = false;
  std::optional<std::uint32_t> at_once;  ///< pairs that measured at the same time; empty: all of a round
  friend bool operator==(const PairPlan&, const PairPlan&) = default;
};

/// Everything in a record but its points.
struct RecordHeader {
  Source source = Source::measured;
  std::string backend;      ///< "verbs", "null", "model:tavor", ...; empty for posted and imported
  std::string created_utc;  ///< ISO 8601; empty for posted tables
  std::string mtuscope_version;
  std::string git_revision;
  std::vector<std::string> command_line;
  std::optional<sweep::SweepSpec> spec;  ///< the plan; empty for posted and imported
  std::optional<Environment> initiator;
  std::optional<Environment> responder;
  std::vector<RankEnvironment> ranks;  ///< by number; empty unless pairs of ranks were measured
  std::optional<PairPlan> pairs;       ///< of that run
  std::optional<Provenance> provenance;
};

struct PointResult {
  Point point;
  Outcome outcome;
};

/// The points of a run with their outcomes, which are moved out of it.
[[nodiscard]] std::vector<PointResult> take_results(sweep::RunResult& run);

/// One record in memory.
struct ResultSet {
  RecordHeader header;
  std::vector<sweep::SessionRecord> sessions;
  std::vector<PointResult> points;
  bool complete = true;  ///< false: interrupted, peer lost, or the journal of a killed run
};

}  // namespace mtuscope::records
