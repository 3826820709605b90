#include "mtuscope/report/series_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "mtuscope/analysis/series.hpp"
#include "mtuscope/core/printable.hpp"
#include "mtuscope/report/units.hpp"

namespace mtuscope::report {
namespace {

constexpr std::size_t kSizeWidth = 9;
constexpr std::size_t kValueWidth = 10;
constexpr std::size_t kIntervalWidth = 21;
constexpr std::size_t kHalfWidth = 5;

const std::optional<Estimate>& estimate_of(const Summary& summary, Pattern pattern) {
  return pattern == Pattern::ping_pong ? summary.latency_ns : summary.bandwidth_bytes_per_s;
}

std::string interval_text(const Summary& summary, const Estimate& estimate, Source source) {
  switch (analysis::spread_of(summary, estimate, source)) {
    case analysis::Spread::interval:
      return fmt::format("[{} {}]", megabytes_per_s(*estimate.low), megabytes_per_s(*estimate.high));
    case analysis::Spread::exact:
      return "exact";
    case analysis::Spread::stated:
      return "stated, no spread";
    case analysis::Spread::unknown:
      break;
  }
  return fmt::format("n={}, none", summary.trial_count);
}

std::string half_width_text(const Summary& summary, Source source) {
  const auto& estimate = summary.latency_ns;
  if (!estimate || analysis::spread_of(summary, *estimate, source) != analysis::Spread::interval) return "-";
  const auto half_width = analysis::relative_half_width(*estimate);
  return half_width ? percent(*half_width, 1) : "-";
}

std::string optional_us(const std::optional<double>& ns) { return ns ? microseconds(*ns) : "-"; }

SeriesLayout& find_or_add(std::vector<SeriesLayout>& all, const Point& common) {
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const SeriesLayout& s) { return s.common == common; });
  if (found != all.rend()) return *found;
  return all.emplace_back(SeriesLayout{common, {}, {}});
}

Point without_axes(const Point& point) {
  Point common = point;
  common.path_mtu.reset();
  common.message_size_bytes = 0;
  common.segmented = false;  // follows from size and path MTU
  return common;
}

}  // namespace

std::string_view label_of(Source source, std::string_view backend) noexcept {
  switch (source) {
    case Source::model:
      return "MODEL, not measured: ";
    case Source::posted:
      return "POSTED: ";
    case Source::imported:
      return "IMPORTED: ";
    case Source::measured:
      break;
  }
  if (backend == "null") return "OWN COST, nothing is sent: ";
  if (backend == "memset") return "MEMORY'S FLOOR, nothing is sent: ";
  return "";
}

std::vector<SeriesLayout> lay_out(std::size_t count, const std::function<const Point&(std::size_t)>& point_at) {
  std::vector<SeriesLayout> all;
  for (std::size_t i = 0; i < count; ++i) {
    auto& mtus = find_or_add(all, without_axes(point_at(i))).path_mtus;
    const auto& mtu = point_at(i).path_mtu;
    if (std::find(mtus.begin(), mtus.end(), mtu) == mtus.end()) mtus.push_back(mtu);
  }
  for (auto& series : all) std::sort(series.path_mtus.begin(), series.path_mtus.end());
  for (std::size_t i = 0; i < count; ++i) {
    auto& series = find_or_add(all, without_axes(point_at(i)));
    auto& row = series.rows[point_at(i).message_size_bytes];
    row.resize(series.path_mtus.size());
    const auto column = std::find(series.path_mtus.begin(), series.path_mtus.end(), point_at(i).path_mtu);
    row[static_cast<std::size_t>(column - series.path_mtus.begin())] = i;
  }
  return all;
}

SeriesTable::SeriesTable(Point common, std::vector<std::optional<PathMtu>> path_mtus, Source source,
                         std::string_view backend)
    : common_(std::move(common)),
      path_mtus_(std::move(path_mtus)),
      source_(source),
      label_(label_of(source, backend)) {}

bool SeriesTable::counts_loss() const noexcept {
  return common_.connection == Connection::ud || common_.connection == Connection::uc;
}

std::string SeriesTable::title() const {
  std::string title{label_};
  const std::string_view quantity =
      common_.pattern == Pattern::ping_pong
          ? (common_.operation == Operation::read ? "latency (round trip) in us" : "latency (half round trip) in us")
          : "bandwidth in MB/s (10^6 B/s)";
  title += fmt::format("{} {} {}, {}", to_string(common_.connection), to_string(common_.operation),
                       to_string(common_.pattern), quantity);
  if (common_.pair) {
    title += fmt::format(", from {} to {}", printable(common_.pair->initiator), printable(common_.pair->responder));
  }
  if (common_.working_set) title += ", " + describe(*common_.working_set);
  if (common_.pass != Pass::none) title += fmt::format(", pass {}", to_string(common_.pass));
  if (common_.header_bytes > 0) title += fmt::format(", wire size = size + {} B header", common_.header_bytes);
  return title;
}

TextTable SeriesTable::columns() const {
  std::vector<Column> columns{{"size B", Align::right, kSizeWidth}};
  if (common_.header_bytes > 0) columns.push_back({"wire B", Align::right, kSizeWidth});
  for (const auto mtu : path_mtus_) {
    const auto label = mtu ? mtu_label(*mtu) : std::string{"MTU not stated"};
    if (common_.pattern == Pattern::ping_pong) {
      columns.push_back({label + " p50 us", Align::right, kValueWidth});
      columns.push_back({"+- %", Align::right, kHalfWidth});
      columns.push_back({"p99 us", Align::right, kValueWidth});
      columns.push_back({"max us", Align::right, kValueWidth});
    } else {
      columns.push_back({label + " MB/s", Align::right, kValueWidth});
      columns.push_back({"interval", Align::left, kIntervalWidth});
    }
    if (counts_loss()) columns.push_back({"lost %", Align::right, 0});
  }
  return TextTable{std::move(columns)};
}

void SeriesTable::add_cells(const Outcome* outcome, bool better, std::vector<Cell>& cells) const {
  const std::size_t extra = (common_.pattern == Pattern::ping_pong ? 3U : 1U) + (counts_loss() ? 1U : 0U);
  const auto only = [&](std::string text, Emphasis emphasis) {
    cells.push_back({std::move(text), emphasis});
    for (std::size_t i = 0; i < extra; ++i) cells.push_back({});
  };
  if (outcome == nullptr) return only("", Emphasis::none);
  if (std::holds_alternative<Skipped>(*outcome)) return only("skipped", Emphasis::none);
  if (std::holds_alternative<Failed>(*outcome)) return only("FAILED", Emphasis::warning);
  const auto& summary = std::get<Measured>(*outcome).summary;
  const std::string mark = better ? "*" : " ";
  const auto emphasis = better ? Emphasis::better : Emphasis::none;
  if (common_.pattern == Pattern::ping_pong) {
    const auto latency = summary.latency.value_or(LatencySummary{});
    const auto p50 = latency.p50_ns       ? latency.p50_ns
                     : summary.latency_ns ? std::optional<double>{summary.latency_ns->value}
                                          : std::nullopt;
    cells.push_back({optional_us(p50) + mark, emphasis});
    cells.push_back({half_width_text(summary, source_), Emphasis::none});
    cells.push_back({optional_us(latency.p99_ns), Emphasis::none});
    cells.push_back({optional_us(latency.max_ns), Emphasis::none});
  } else {
    const auto& bandwidth = summary.bandwidth_bytes_per_s;
    cells.push_back({(bandwidth ? megabytes_per_s(bandwidth->value) : "-") + mark, emphasis});
    cells.push_back({bandwidth ? interval_text(summary, *bandwidth, source_) : "", Emphasis::none});
  }
  if (counts_loss()) {
    const bool lossy = summary.loss_fraction.value_or(0) > 0;
    cells.push_back(
        {summary.loss_fraction ? percent(*summary.loss_fraction, 3) : "-", lossy ? Emphasis::warning : Emphasis::none});
  }
}

std::vector<Cell> SeriesTable::row(std::uint64_t message_size_bytes,
                                   const std::vector<const Outcome*>& outcomes) const {
  std::vector<std::optional<analysis::CurvePoint>> candidates;
  for (const auto* outcome : outcomes) {
    candidates.emplace_back();
    const auto* measured = outcome == nullptr ? nullptr : std::get_if<Measured>(outcome);
    if (measured == nullptr) continue;
    const auto& estimate = estimate_of(measured->summary, common_.pattern);
    if (!estimate) continue;
    candidates.back() =
        analysis::CurvePoint{message_size_bytes, message_size_bytes + common_.header_bytes, *estimate,
                             analysis::spread_of(measured->summary, *estimate, source_), measured->summary.trial_count};
  }
  const auto metric = common_.pattern == Pattern::ping_pong ? analysis::Metric::latency : analysis::Metric::bandwidth;
  const auto winner = analysis::clear_winner(candidates, metric);
  std::vector<Cell> cells{{fmt::format("{}", message_size_bytes), Emphasis::none}};
  if (common_.header_bytes > 0) {
    cells.push_back({fmt::format("{}", message_size_bytes + common_.header_bytes), Emphasis::none});
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) add_cells(outcomes[i], winner == i, cells);
  return cells;
}

}  // namespace mtuscope::report
