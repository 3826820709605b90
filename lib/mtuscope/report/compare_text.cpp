#include "mtuscope/report/compare_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "mtuscope/core/printable.hpp"
#include "mtuscope/report/units.hpp"

namespace mtuscope::report {
namespace {

using analysis::CurvePoint;
using analysis::LawSample;
using analysis::LawVerdict;
using analysis::Lead;
using analysis::Metric;
using analysis::Spread;

// One constant for both posted values of 512 B, and no path MTU in the equations of a single packet: docs/models.md.
constexpr std::string_view kModelLaw1 = "       MODEL: so by construction at the posted sizes, no finding\n";

std::string value_text(double value, Metric metric) {
  return metric == Metric::bandwidth ? megabytes_per_s(value) : microseconds(value);
}

std::string spread_text(const CurvePoint& point, Metric metric) {
  switch (point.spread) {
    case Spread::interval:
      return fmt::format("[{} {}]", value_text(*point.estimate.low, metric), value_text(*point.estimate.high, metric));
    case Spread::exact:
      return "exact";
    case Spread::stated:
      return "stated, no spread";
    case Spread::unknown:
      break;
  }
  return fmt::format("n={}, none", point.trial_count);
}

const char* ours_label(Source source) {
  switch (source) {
    case Source::model:
      return "MODEL";
    case Source::posted:
      return "POSTED";
    case Source::imported:
      return "IMPORTED";
    case Source::measured:
      break;
  }
  return "ours";
}

std::string size_text(const CurvePoint& point) {
  return point.message_size_bytes == point.wire_size_bytes
             ? fmt::format("{}", point.wire_size_bytes)
             : fmt::format("{} (wire {})", point.message_size_bytes, point.wire_size_bytes);
}

std::string lead_text(Lead lead, PathMtu first, PathMtu second) {
  if (lead == Lead::same) return "the same";
  return mtu_label(lead == Lead::first ? first : second) + " leads";
}

std::string residual_summary(const analysis::PostedComparison& comparison) {
  double worst = 0;
  double sum_of_squares = 0;
  for (const auto& pair : comparison.pairs) {
    worst = std::max(worst, std::abs(pair.residual_fraction));
    sum_of_squares += pair.residual_fraction * pair.residual_fraction;
  }
  const auto count = comparison.pairs.size();
  return fmt::format("{} of {} posted points compared: largest residual {} %, rms {} %\n", count,
                     count + comparison.unpaired.size(), percent(worst, 2),
                     percent(std::sqrt(sum_of_squares / static_cast<double>(count)), 2));
}

std::string sample_text(const LawSample& sample) {
  const auto sign = signed_percent(sample.ratio.value - 1);
  std::string text = fmt::format("{} B (wire {}): {} %", sample.message_size_bytes, sample.wire_size_bytes, sign);
  if (sample.ratio.low != sample.ratio.high) {
    text += fmt::format(" [{} {}]", signed_percent(sample.ratio.low - 1), signed_percent(sample.ratio.high - 1));
  }
  return text;
}

/// The sizes the law does not stand on, in one line: how many agree, and the range that does not.
std::string between_text(const std::vector<LawSample>& samples) {
  std::size_t count = 0;
  std::size_t contrary = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (const auto& sample : samples) {
    if (sample.posted) continue;
    ++count;
    if (sample.verdict != LawVerdict::fail) continue;
    if (contrary++ == 0) low = sample.wire_size_bytes;
    high = sample.wire_size_bytes;
  }
  if (count == 0) return {};
  if (contrary == 0) return fmt::format("       between posted sizes: none of {} sizes disagrees\n", count);
  return fmt::format(
      "       between posted sizes: {} of {} sizes disagree, wire {} to {} B (no posted point tests them)\n", contrary,
      count, low, high);
}

std::string series_words(const Point& common) {
  const auto pair = common.pair
                        ? " from " + printable(common.pair->initiator) + " to " + printable(common.pair->responder)
                        : std::string{};
  return fmt::format("{} {} {}{}", to_string(common.connection), to_string(common.operation), to_string(common.pattern),
                     pair);
}

}  // namespace

std::string comparison_title(const analysis::PostedComparison& comparison) {
  auto title = fmt::format("run {} beside table {}, on wire sizes", series_words(comparison.run_common),
                           series_words(comparison.table_common));
  if (comparison.run_common.connection != comparison.table_common.connection) {
    title += "; MPI's own cost per message is in one of them only";
  }
  return title;
}

std::string pairs_text(const analysis::PostedComparison& comparison, Source run_source, Source table_source) {
  const auto metric = comparison.metric;
  const std::string unit = metric == Metric::bandwidth ? "MB/s" : "us";
  TextTable table{{{"mtu", Align::left, 0},
                   {"size B", Align::right, 0},
                   {"wire B", Align::right, 0},
                   {std::string{table_source == Source::posted ? "POSTED " : "table "} + unit, Align::right, 0},
                   {"spread", Align::left, 0},
                   {std::string{ours_label(run_source)} + " " + unit, Align::right, 0},
                   {"spread", Align::left, 0},
                   {"residual %", Align::right, 0}}};
  for (const auto& pair : comparison.pairs) {
    table.add_row({{mtu_label(pair.path_mtu)},
                   {fmt::format("{}", pair.posted.message_size_bytes)},
                   {fmt::format("{}", pair.posted.wire_size_bytes)},
                   {value_text(pair.posted.estimate.value, metric)},
                   {spread_text(pair.posted, metric)},
                   {value_text(pair.ours.estimate.value, metric)},
                   {spread_text(pair.ours, metric)},
                   {signed_percent(pair.residual_fraction)}});
  }
  std::string out = table.text(Color::off) + residual_summary(comparison);
  for (const auto& [mtu, posted] : comparison.unpaired) {
    out += fmt::format("  not in the run: mtu {}, {} B (wire {})\n", mtu_label(mtu), posted.message_size_bytes,
                       posted.wire_size_bytes);
  }
  return out;
}

std::string crossovers_text(const analysis::Series& series, Metric metric, const std::string& whose) {
  std::string out;
  if (series.curves.size() < 2) return fmt::format("crossovers, {}: one path MTU only\n", whose);
  for (auto first = series.curves.begin(); std::next(first) != series.curves.end(); ++first) {
    const auto second = std::next(first);
    const auto found = analysis::crossovers(first->second, second->second, metric);
    out += fmt::format("crossovers, {}, {} against {}: {}\n", whose, mtu_label(first->first), mtu_label(second->first),
                       found.empty() ? "none shown" : fmt::format("{}", found.size()));
    for (const auto& crossover : found) {
      out += fmt::format("  between {} and {} B: from {} to {}\n", size_text(crossover.below),
                         size_text(crossover.above), lead_text(crossover.before, first->first, second->first),
                         lead_text(crossover.after, first->first, second->first));
    }
  }
  return out;
}

std::string laws_text(const std::array<analysis::LawResult, 4>& laws, Source run_source, Color color) {
  std::string out = "laws of the posted table, on wire sizes (the gain of the MTU that should lead):\n";
  for (const auto& law : laws) {
    const auto emphasis = law.verdict == LawVerdict::fail   ? Emphasis::warning
                          : law.verdict == LawVerdict::pass ? Emphasis::better
                                                            : Emphasis::none;
    out += fmt::format("  {}. {}: {}", law.number, law.statement, colored(to_string(law.verdict), emphasis, color));
    if (!law.reason.empty()) out += ": " + law.reason;
    out += "\n";
    for (const auto& sample : law.samples) {
      if (sample.posted) out += "       " + sample_text(sample) + "\n";
    }
    if (law.number == 1 && run_source == Source::model) out += kModelLaw1;
    out += between_text(law.samples);
  }
  return out;
}

}  // namespace mtuscope::report
