#include "mtuscope/analysis/posted.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mtuscope::analysis {
namespace {

std::string words(std::string_view what, std::string_view run, std::string_view table) {
  std::string text{"the run's "};
  text.append(what).append(" is ").append(run).append(", the table's is ").append(table);
  return text;
}

std::string name(const Pair& pair) { return pair.initiator + " to " + pair.responder; }

bool connections_match(Connection run, Connection table) noexcept {
  if (run == table) return true;
  return (run == Connection::rc && table == Connection::mpi) || (run == Connection::mpi && table == Connection::rc);
}

PostedComparison pair_up(const Series& run, const Series& table, Metric metric) {
  PostedComparison result{table.common, run.common, metric, run, table, {}, {}};
  for (const auto& [mtu, posted_curve] : table.curves) {
    const auto curve = run.curves.find(mtu);
    for (const auto& posted : posted_curve) {
      const auto* ours = curve == run.curves.end() ? nullptr : find_wire_size(curve->second, posted.wire_size_bytes);
      if (ours == nullptr) {
        result.unpaired.push_back({mtu, posted});
        continue;
      }
      const double residual = (ours->estimate.value - posted.estimate.value) / posted.estimate.value;
      result.pairs.push_back({mtu, posted, *ours, residual});
    }
  }
  return result;
}

std::string no_common_point(const Series& table) {
  std::string text{"no wire size at a path MTU in common; the table has "};
  std::string_view separator;
  for (const auto& [mtu, curve] : table.curves) {
    text.append(separator).append("MTU ").append(std::to_string(to_bytes(mtu))).append(" from ");
    text.append(std::to_string(curve.front().wire_size_bytes)).append(" to ");
    text.append(std::to_string(curve.back().wire_size_bytes)).append(" B");
    separator = ", ";
  }
  return text;
}

/// Adds every comparable pair of series; returns the last reason why a pair of series was not.
std::string compare_metric(const std::vector<Series>& runs, const std::vector<Series>& tables, Metric metric,
                           std::vector<PostedComparison>& out) {
  std::string reason;
  for (const auto& table : tables) {
    for (const auto& run : runs) {
      if (auto why = incompatibility(run.common, table.common); !why.empty()) {
        reason = std::move(why);
        continue;
      }
      auto comparison = pair_up(run, table, metric);
      if (comparison.pairs.empty()) {
        reason = no_common_point(table);
        continue;
      }
      out.push_back(std::move(comparison));
    }
  }
  return reason;
}

std::string first_pattern_clash(const records::ResultSet& run, const records::ResultSet& table) {
  for (const auto& theirs : table.points) {
    for (const auto& ours : run.points) {
      if (auto why = incompatibility(ours.point, theirs.point); !why.empty()) return why;
    }
  }
  return {};
}

}  // namespace

std::string incompatibility(const Point& run, const Point& table) {
  if (run.pattern != table.pattern) {
    return words("pattern", to_string(run.pattern), to_string(table.pattern)) +
           ": a stream keeps many messages in flight, a ping-pong one, so their numbers are not the same quantity";
  }
  if (run.operation != table.operation) {
    return words("operation", to_string(run.operation), to_string(table.operation));
  }
  if (!connections_match(run.connection, table.connection)) {
    return words("connection", to_string(run.connection), to_string(table.connection));
  }
  if (run.pair && table.pair && *run.pair != *table.pair) return words("pair", name(*run.pair), name(*table.pair));
  return {};
}

PostedResult compare_with_table(const records::ResultSet& run, const records::ResultSet& table) {
  PostedResult result;
  std::string reason;
  for (const auto metric : {Metric::bandwidth, Metric::latency}) {
    auto why = compare_metric(series_of(run, metric), series_of(table, metric), metric, result.comparisons);
    if (!why.empty()) reason = std::move(why);
  }
  if (!result.comparisons.empty()) return result;
  // A stream and a ping-pong have no metric in common, so the series alone may not have met.
  if (reason.empty()) reason = first_pattern_clash(run, table);
  result.refusal = reason.empty() ? "the run or the table holds no value that both could have in common" : reason;
  return result;
}

}  // namespace mtuscope::analysis
