#include "mtuscope/records/point_json.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "mtuscope/records/point_fields.hpp"

namespace mtuscope::records {
namespace {

constexpr std::array<std::string_view, 9> kColumnNames{"arrangement",
                                                       "round",
                                                       "order",
                                                       "messages",
                                                       "elapsed_ns",
                                                       "sent_messages",
                                                       "received_messages",
                                                       "min_slice_bytes_per_s",
                                                       "sender_elapsed_ns"};
constexpr std::size_t kRequiredColumns = 5;
constexpr double kRoundOff = 1e-6;  // how far a summary may be outside of its trials' own rates
constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();

std::string_view name_of(TrialColumn column) noexcept { return kColumnNames[static_cast<std::size_t>(column)]; }

const std::vector<Trial>* trials_of(const Outcome& outcome) noexcept {
  if (const auto* measured = std::get_if<Measured>(&outcome)) return &measured->trials;
  if (const auto* failed = std::get_if<Failed>(&outcome)) return &failed->trials;
  return nullptr;
}

bool has_value(const Trial& trial, TrialColumn column) noexcept {
  switch (column) {
    case TrialColumn::sent_messages:
      return trial.sent_messages.has_value();
    case TrialColumn::received_messages:
      return trial.received_messages.has_value();
    case TrialColumn::min_slice_bytes_per_s:
      return trial.min_slice_bytes_per_s.has_value();
    case TrialColumn::sender_elapsed_ns:
      return trial.sender_elapsed_ns.has_value();
    default:
      return column != TrialColumn::unknown;
  }
}

void write_cell(FieldWriter& cell, const Trial& trial, TrialColumn column) {
  switch (column) {
    case TrialColumn::arrangement:
      return cell.write(trial.arrangement);
    case TrialColumn::round:
      return cell.write(trial.round);
    case TrialColumn::order:
      return cell.write(trial.order);
    case TrialColumn::messages:
      return cell.write(trial.messages);
    case TrialColumn::elapsed_ns:
      return cell.write(trial.elapsed_ns);
    case TrialColumn::sent_messages:
      return cell.write(trial.sent_messages);
    case TrialColumn::received_messages:
      return cell.write(trial.received_messages);
    case TrialColumn::min_slice_bytes_per_s:
      return cell.write(trial.min_slice_bytes_per_s);
    case TrialColumn::sender_elapsed_ns:
      return cell.write(trial.sender_elapsed_ns);
    case TrialColumn::unknown:
      break;
  }
}

void write_rows(JsonWriter& out, const std::vector<Trial>& trials, const std::vector<TrialColumn>& columns) {
  FieldWriter cell(out);
  out.key("trials");
  out.begin_array();
  for (const auto& trial : trials) {
    out.begin_array();
    for (const auto column : columns) write_cell(cell, trial, column);
    out.end_array();
  }
  out.end_array();
}

template <class T>
void read_cell(const JsonTree& tree, std::uint32_t node, std::optional<T>& value) {
  if (tree.nodes[node].kind == JsonKind::null) return;
  if constexpr (std::floating_point<T>) {
    value = tree.get_number(node);
  } else {
    value = tree.get_unsigned(node, kLargest);
  }
}

void read_cell(const JsonTree& tree, std::uint32_t node, TrialColumn column, Trial& trial) {
  constexpr auto kLargest32 = std::numeric_limits<std::uint32_t>::max();
  switch (column) {
    case TrialColumn::arrangement:
      trial.arrangement = static_cast<std::uint32_t>(tree.get_unsigned(node, kLargest32));
      return;
    case TrialColumn::round:
      trial.round = static_cast<std::uint32_t>(tree.get_unsigned(node, kLargest32));
      return;
    case TrialColumn::order:
      trial.order = tree.get_unsigned(node, kLargest);
      return;
    case TrialColumn::messages:
      trial.messages = tree.get_unsigned(node, kLargest);
      return;
    case TrialColumn::elapsed_ns:
      trial.elapsed_ns = tree.get_unsigned(node, kLargest);
      return;
    case TrialColumn::sent_messages:
      return read_cell(tree, node, trial.sent_messages);
    case TrialColumn::received_messages:
      return read_cell(tree, node, trial.received_messages);
    case TrialColumn::min_slice_bytes_per_s:
      return read_cell(tree, node, trial.min_slice_bytes_per_s);
    case TrialColumn::sender_elapsed_ns:
      return read_cell(tree, node, trial.sender_elapsed_ns);
    case TrialColumn::unknown:
      return;
  }
}

std::vector<Trial> read_rows(const JsonTree& tree, std::uint32_t node, const std::vector<TrialColumn>& columns) {
  tree.require(node, JsonKind::array);
  std::vector<Trial> trials;
  for (auto row = node + 1; row < tree.nodes[node].end; row = tree.nodes[row].end) {
    tree.require(row, JsonKind::array);
    auto& trial = trials.emplace_back();
    std::size_t at = 0;
    auto cell = row + 1;
    for (; cell < tree.nodes[row].end && at < columns.size(); cell = tree.nodes[cell].end) {
      read_cell(tree, cell, columns[at++], trial);
    }
    if (at != columns.size() || cell != tree.nodes[row].end) {
      tree.fail(row, "expected " + std::to_string(columns.size()) + " values, one for each of trial_columns");
    }
  }
  return trials;
}

void write_histogram(JsonWriter& out, const LatencyHistogram& histogram) {
  out.key("latency_histogram");
  out.begin_object();
  out.key("min_ns");
  out.unsigned_integer(histogram.min_ns());
  out.key("max_ns");
  out.unsigned_integer(histogram.max_ns());
  out.key("buckets");
  out.begin_array();
  for (const auto& bucket : histogram.buckets()) {
    out.begin_array();
    out.unsigned_integer(bucket.low_ns);
    out.unsigned_integer(bucket.count);
    out.end_array();
  }
  out.end_array();
  out.end_object();
}

std::shared_ptr<const LatencyHistogram> read_histogram(const JsonTree& tree, std::uint32_t node) {
  if (tree.nodes[node].kind == JsonKind::null) return nullptr;
  FieldReader members(tree, node);
  const auto min_ns = tree.get_unsigned(members.required("min_ns"), kLargest);
  const auto max_ns = tree.get_unsigned(members.required("max_ns"), kLargest);
  const auto buckets = members.required("buckets");
  tree.require(buckets, JsonKind::array);
  auto histogram = std::make_shared<LatencyHistogram>();
  std::uint64_t room = kLargest;  // for the sum of the counts
  for (auto row = buckets + 1; row < tree.nodes[buckets].end; row = tree.nodes[row].end) {
    tree.require(row, JsonKind::array);
    if (tree.nodes[row].end != row + 3) tree.fail(row, "expected [low_ns, count]");
    const auto count = tree.get_unsigned(row + 2, room);
    room -= count;
    histogram->add_bucket(tree.get_unsigned(row + 1, kLargest), count);
  }
  if (min_ns > max_ns) tree.fail(node, "min_ns is above max_ns");
  histogram->set_extremes(min_ns, max_ns);
  return histogram;
}

/// The merged histogram of a point: that of its trials, or the one it was read with.
std::shared_ptr<const LatencyHistogram> merged_latency(const Measured& measured) {
  std::shared_ptr<LatencyHistogram> merged;
  for (const auto& trial : measured.trials) {
    if (!trial.latency) continue;
    if (!merged) merged = std::make_shared<LatencyHistogram>();
    merged->merge(*trial.latency);
  }
  return merged ? merged : measured.latency;
}

void write_outcome_members(JsonWriter& out, const Outcome& outcome) {
  FieldWriter member(out, Absent::left_out);
  out.key("outcome");
  if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
    out.string("skipped");
    member.always("reason", skipped->reason);
  } else if (const auto* failed = std::get_if<Failed>(&outcome)) {
    out.string("failed");
    member.always("reason", failed->reason);
  } else {
    const auto& measured = std::get<Measured>(outcome);
    out.string("measured");
    member("session", measured.session);
    if (measured.warmup_messages != 0) member("warmup_messages", measured.warmup_messages);
    member("note", measured.note);
    member("summary", measured.summary);
    if (const auto latency = merged_latency(measured)) write_histogram(out, *latency);
  }
}

/// Bandwidth is the median of the trials' rates, so it lies between the slowest and the fastest of them.
void check_bandwidth(const JsonTree& tree, std::uint32_t summary, const Point& point, const Measured& measured) {
  const auto& bandwidth = measured.summary.bandwidth_bytes_per_s;
  if (!bandwidth || measured.trials.empty() || point.pattern == Pattern::ping_pong) return;
  double slowest = std::numeric_limits<double>::infinity();
  double fastest = 0;
  for (const auto& trial : measured.trials) {
    if (trial.elapsed_ns == 0 || trial.sent_messages) return;
    const double bytes = static_cast<double>(trial.messages) * static_cast<double>(point.message_size_bytes);
    const double rate = bytes * 1e9 / static_cast<double>(trial.elapsed_ns);
    slowest = std::min(slowest, rate);
    fastest = std::max(fastest, rate);
  }
  if (bandwidth->value >= slowest * (1 - kRoundOff) && bandwidth->value <= fastest * (1 + kRoundOff)) return;
  tree.fail(*tree.find(summary, "bandwidth_bytes_per_s"), "lies outside of the rates of this point's own trials");
}

Measured read_measured(FieldReader& members, const std::vector<TrialColumn>& columns) {
  const auto& tree = members.tree();
  Measured measured;
  members("session", measured.session);
  members("warmup_messages", measured.warmup_messages);
  members("note", measured.note);
  members.always("summary", measured.summary);
  if (const auto latency = members.find("latency_histogram")) measured.latency = read_histogram(tree, *latency);
  if (const auto trials = members.find("trials")) measured.trials = read_rows(tree, *trials, columns);
  return measured;
}

Outcome read_outcome_members(FieldReader& members, const std::vector<TrialColumn>& columns) {
  const auto& tree = members.tree();
  const auto word_node = members.required("outcome");
  const auto word = tree.get_string(word_node);
  if (word == "measured") return read_measured(members, columns);
  if (word == "skipped") {
    Skipped skipped;
    members.always("reason", skipped.reason);
    return skipped;
  }
  if (word != "failed") tree.fail(word_node, "expected measured, skipped or failed");
  Failed failed;
  members.always("reason", failed.reason);
  if (const auto trials = members.find("trials")) failed.trials = read_rows(tree, *trials, columns);
  return failed;
}

/// Numbers that must agree are checked to agree, as far as that is cheap.
void check_measured(const JsonTree& tree, std::uint32_t node, const PointResult& result, std::size_t session_count) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  if (measured == nullptr) return;
  if (measured->session && *measured->session >= session_count) {
    tree.fail(*tree.find(node, "session"), "is " + std::to_string(*measured->session) + ", but the record has " +
                                               std::to_string(session_count) + " sessions");
  }
  if (!measured->trials.empty() && measured->summary.trial_count != measured->trials.size()) {
    tree.fail(*tree.find(*tree.find(node, "summary"), "trial_count"),
              "is " + std::to_string(measured->summary.trial_count) + ", but there are " +
                  std::to_string(measured->trials.size()) + " trials");
  }
  check_bandwidth(tree, *tree.find(node, "summary"), result.point, *measured);
}

void write_identity_members(JsonWriter& out, const Point& point) {
  FieldWriter member(out, Absent::left_out);
  visit_fields(member, point);
  if (point.segmented) member("segmented", true);
  if (point.pass != Pass::none) member("pass", point.pass);
}

Point read_identity_members(FieldReader& members) {
  Point point;
  visit_fields(members, point);
  members("segmented", point.segmented);
  members("pass", point.pass);
  return point;
}

}  // namespace

std::vector<TrialColumn> columns_of(const std::vector<PointResult>& points) {
  std::vector<TrialColumn> columns;
  for (std::size_t i = 0; i < kColumnNames.size(); ++i) {
    const auto column = static_cast<TrialColumn>(i);
    const auto is_used = [column](const PointResult& result) {
      const auto* trials = trials_of(result.outcome);
      return trials != nullptr &&
             std::ranges::any_of(*trials, [column](const Trial& t) { return has_value(t, column); });
    };
    if (i < kRequiredColumns || std::ranges::any_of(points, is_used)) columns.push_back(column);
  }
  return columns;
}

void write_columns(JsonWriter& out, const std::vector<TrialColumn>& columns) {
  out.begin_array();
  for (const auto column : columns) out.string(name_of(column));
  out.end_array();
}

std::vector<TrialColumn> read_columns(const JsonTree& tree, std::uint32_t node) {
  tree.require(node, JsonKind::array);
  std::vector<TrialColumn> columns;
  for (auto item = node + 1; item < tree.nodes[node].end; item = tree.nodes[item].end) {
    const auto at = std::ranges::find(kColumnNames, tree.get_string(item)) - kColumnNames.begin();
    const auto column = static_cast<TrialColumn>(at);  // past the end: unknown
    if (column != TrialColumn::unknown && std::ranges::count(columns, column) != 0) tree.fail(item, "a column twice");
    columns.push_back(column);
  }
  for (std::size_t i = 0; i < kRequiredColumns; ++i) {
    if (std::ranges::count(columns, static_cast<TrialColumn>(i)) != 0) continue;
    tree.fail(node, std::string("the column \"").append(kColumnNames[i]).append("\" is missing"));
  }
  return columns;
}

void write_point(JsonWriter& out, const PointResult& result, const std::vector<TrialColumn>& columns) {
  out.begin_object();
  write_identity_members(out, result.point);
  out.key("wire_size_bytes");
  out.unsigned_integer(wire_size_bytes(result.point));
  write_outcome_members(out, result.outcome);
  if (const auto* trials = trials_of(result.outcome); trials != nullptr && !trials->empty()) {
    write_rows(out, *trials, columns);
  }
  out.end_object();
}

PointResult read_point(const JsonTree& tree, std::uint32_t node, const std::vector<TrialColumn>& columns,
                       std::size_t session_count) {
  FieldReader members(tree, node, Absent::left_out);
  PointResult result;
  result.point = read_identity_members(members);
  const auto wire_size = members.required("wire_size_bytes");
  if (tree.get_unsigned(wire_size, kLargest) != wire_size_bytes(result.point)) {
    tree.fail(wire_size, "is not message_size_bytes + header_bytes");
  }
  result.outcome = read_outcome_members(members, columns);
  check_measured(tree, node, result, session_count);
  return result;
}

void write_identity(JsonWriter& out, const Point& point) {
  out.begin_object();
  write_identity_members(out, point);
  out.end_object();
}

Point read_identity(const JsonTree& tree, std::uint32_t node) {
  FieldReader members(tree, node, Absent::left_out);
  return read_identity_members(members);
}

void write_trial(JsonWriter& out, const Trial& trial) {
  out.begin_object();
  FieldWriter member(out, Absent::left_out);
  visit_fields(member, trial);
  if (trial.latency) write_histogram(out, *trial.latency);
  out.end_object();
}

Trial read_trial(const JsonTree& tree, std::uint32_t node) {
  FieldReader members(tree, node, Absent::left_out);
  Trial trial;
  visit_fields(members, trial);
  if (const auto latency = members.find("latency_histogram")) trial.latency = read_histogram(tree, *latency);
  return trial;
}

void write_outcome(JsonWriter& out, const Outcome& outcome) {
  out.begin_object();
  write_outcome_members(out, outcome);
  out.end_object();
}

Outcome read_outcome(const JsonTree& tree, std::uint32_t node) {
  FieldReader members(tree, node, Absent::left_out);
  return read_outcome_members(members, {});
}

}  // namespace mtuscope::records
