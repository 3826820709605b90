#include "mtuscope/report/record_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mtuscope/core/printable.hpp"
#include "mtuscope/report/series_table.hpp"
#include "mtuscope/report/units.hpp"

namespace mtuscope::report {
namespace {

/// The points that share one reason, in short.
struct ReasonGroup {
  std::size_t count = 0;
  std::set<std::uint64_t> sizes;
  std::set<PathMtu> path_mtus;
  std::set<Connection> connections;
};

/// Keeps the order in which reasons first appear.
class Reasons {
 public:
  void add(const std::string& reason, const Point& point) {
    const auto [entry, added] = groups_.try_emplace(reason);
    if (added) order_.push_back(reason);
    auto& group = entry->second;
    ++group.count;
    group.sizes.insert(point.message_size_bytes);
    group.connections.insert(point.connection);
    if (point.path_mtu) group.path_mtus.insert(*point.path_mtu);
  }
  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& reason : order_) out += line(groups_.at(reason), reason);
    return out;
  }

 private:
  static std::string line(const ReasonGroup& group, const std::string& reason) {
    std::string where;
    for (const auto connection : group.connections) where += fmt::format("{} ", to_string(connection));
    where += "mtu";
    for (const auto mtu : group.path_mtus) where += " " + mtu_label(mtu);
    if (group.path_mtus.empty()) where += " not stated";
    where += *group.sizes.begin() == *group.sizes.rbegin()
                 ? fmt::format(", size {} B", *group.sizes.begin())
                 : fmt::format(", sizes {} to {} B", *group.sizes.begin(), *group.sizes.rbegin());
    return fmt::format("  {} {} ({}): {}\n", group.count, group.count == 1 ? "point" : "points", where,
                       printable(reason));
  }

  std::map<std::string, ReasonGroup> groups_;
  std::vector<std::string> order_;
};

std::string proof_line(const sweep::SessionRecord& session) {
  const auto& proof = session.proof;
  std::string line =
      fmt::format("  {} {}: {}", to_string(session.connection), mtu_label(proof.asked), to_string(proof.verdict));
  const auto add = [&line](const char* what, const std::optional<PathMtu>& mtu) {
    if (mtu) line += fmt::format(", {} {}", what, mtu_label(*mtu));
  };
  add("local active", proof.local_active);
  add("remote active", proof.remote_active);
  add("read back", proof.local_read_back);
  add("remote read back", proof.remote_read_back);
  add("route", proof.route_mtu);
  if (proof.expected_packets && proof.counted_packets) {
    line += fmt::format(", {} of {} expected packets for {} messages of {} B ({})", *proof.counted_packets,
                        *proof.expected_packets, proof.burst_messages, proof.burst_message_size_bytes,
                        printable(proof.counter));
  }
  if (!proof.setting.empty()) line += ", asked by " + printable(proof.setting);
  if (!proof.reason.empty()) line += "; " + printable(proof.reason);
  return line + "\n";
}

/// One line per connection and path MTU: the first session, or the first that contradicts.
std::string proofs_text(const std::vector<sweep::SessionRecord>& sessions, Color color) {
  std::map<std::pair<Connection, PathMtu>, const sweep::SessionRecord*> shown;
  for (const auto& session : sessions) {
    const auto [entry, added] = shown.try_emplace({session.connection, session.proof.asked}, &session);
    if (!added && session.proof.verdict == ProofVerdict::contradicted &&
        entry->second->proof.verdict != ProofVerdict::contradicted) {
      entry->second = &session;
    }
  }
  std::string out;
  for (const auto& [key, session] : shown) {
    const auto emphasis = session->proof.verdict == ProofVerdict::contradicted ? Emphasis::warning : Emphasis::none;
    out += colored(proof_line(*session), emphasis, color);
  }
  return out;
}

bool any_of_points(const records::ResultSet& record, bool (*test)(const records::PointResult&)) {
  return std::any_of(record.points.begin(), record.points.end(), test);
}

std::string legend_text(const records::ResultSet& record) {
  std::string out;
  const auto source = record.header.source;
  if (source == Source::model) {
    out += fmt::format("MODEL: these numbers are computed by {}; no hardware was measured.\n",
                       printable(record.header.backend));
  }
  if (any_of_points(record, [](const records::PointResult& p) { return p.point.pattern == Pattern::ping_pong; })) {
    out += "+- is the wider half of p50's interval, in % of it; a percentile that needs more round trips is \"-\".\n";
  }
  if (source == Source::measured || source == Source::model) {
    out += "* marks the better path MTU where its interval is clear of the others'";
    out += source == Source::model ? " (a model has no spread: \"exact\").\n" : ".\n";
  }
  if (any_of_points(record, [](const records::PointResult& p) { return p.point.header_bytes > 0; })) {
    out += "size = the message as MPI counts it; wire = what the HCA moves, with MPI's header.\n";
  }
  return out;
}

/// The slowest time slice of the run, relative to its point: the mean hides a link that flaps, this does not.
std::string slowest_slice_text(const records::ResultSet& record) {
  const Point* where = nullptr;
  double lowest = 0;
  for (const auto& [point, outcome] : record.points) {
    const auto* measured = std::get_if<Measured>(&outcome);
    if (measured == nullptr || !measured->summary.min_slice_bytes_per_s || !measured->summary.bandwidth_bytes_per_s) {
      continue;
    }
    const double share = *measured->summary.min_slice_bytes_per_s / measured->summary.bandwidth_bytes_per_s->value;
    if (where != nullptr && share >= lowest) continue;
    where = &point;
    lowest = share;
  }
  if (where == nullptr) return {};
  return fmt::format("slowest time slice: {:.0f} % of its point's bandwidth ({})\n", 100 * lowest, describe(*where));
}

}  // namespace

std::string tables_text(const records::ResultSet& record, Color color) {
  std::string out;
  const auto layouts =
      lay_out(record.points.size(), [&](std::size_t i) -> const Point& { return record.points[i].point; });
  for (const auto& layout : layouts) {
    const SeriesTable table{layout.common, layout.path_mtus, record.header.source, record.header.backend};
    auto text = table.columns();
    for (const auto& [size, indices] : layout.rows) {
      std::vector<const Outcome*> outcomes;
      for (const auto& index : indices) outcomes.push_back(index ? &record.points[*index].outcome : nullptr);
      text.add_row(table.row(size, outcomes));
    }
    if (!out.empty()) out += "\n";
    out += table.title() + "\n" + text.text(color);
  }
  return out;
}

std::string notes_text(const records::ResultSet& record, Color color) {
  std::string out = legend_text(record) + slowest_slice_text(record);
  if (!record.sessions.empty()) out += "path MTU proof:\n" + proofs_text(record.sessions, color);
  Reasons skipped;
  Reasons failed;
  Reasons noted;
  for (const auto& [point, outcome] : record.points) {
    if (const auto* skip = std::get_if<Skipped>(&outcome)) skipped.add(skip->reason, point);
    if (const auto* fail = std::get_if<Failed>(&outcome)) failed.add(fail->reason, point);
    const auto* measured = std::get_if<Measured>(&outcome);
    if (measured != nullptr && !measured->note.empty()) noted.add(measured->note, point);
  }
  if (!skipped.empty()) out += "skipped:\n" + skipped.text();
  if (!failed.empty()) out += colored("FAILED:\n", Emphasis::warning, color) + failed.text();
  if (!noted.empty()) out += "notes:\n" + noted.text();
  if (!record.complete) out += colored("INCOMPLETE: the run ended before its plan did\n", Emphasis::warning, color);
  return out;
}

}  // namespace mtuscope::report
