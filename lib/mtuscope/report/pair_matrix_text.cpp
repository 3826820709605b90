#include "mtuscope/report/pair_matrix_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "mtuscope/core/printable.hpp"
#include "mtuscope/report/units.hpp"

namespace mtuscope::report {
namespace {

using analysis::Metric;
using analysis::PairGroup;
using analysis::PairMatrix;
using analysis::PairValue;

constexpr std::size_t kSmallMatrix = 8;  // hosts whose matrix fits 80 columns
constexpr std::size_t kTerminalWidth = 80;
constexpr std::size_t kMostReasons = 10;  // a reason may name its pair: half a million of them

std::string number_of(Metric metric, double value) {
  return metric == Metric::latency ? microseconds(value) : megabytes_per_s(value);
}

std::string_view unit_of(Metric metric) { return metric == Metric::latency ? "us" : "MB/s"; }

std::string value_of(Metric metric, double value) {
  return fmt::format("{} {}", number_of(metric, value), unit_of(metric));
}

std::string name_of(const Pair& pair) { return printable(pair.initiator) + " -> " + printable(pair.responder); }

Pair names_of(const PairMatrix& matrix, const PairValue& value) {
  return {matrix.names[value.initiator], matrix.names[value.responder]};
}

/// "rc stream mtu 2K size 4096 B".
std::string title_of(const PairMatrix& matrix) {
  const auto& common = matrix.common;
  return fmt::format("{} {} {}mtu {} size {} B", to_string(common.connection), to_string(common.pattern),
                     common.operation == Operation::send ? "" : fmt::format("{} ", to_string(common.operation)),
                     common.path_mtu ? mtu_label(*common.path_mtu) : "not stated", common.message_size_bytes);
}

/// "38.1 % below": how a value lies to another one.
std::string distance(double value, double other) {
  const auto fraction = value / other - 1;
  return fmt::format("{:.1f} % {}", std::abs(fraction) * 100, fraction < 0 ? "below" : "above");
}

std::string overview(const std::vector<PairMatrix>& matrices, Color color) {
  TextTable table({{"connection", Align::left},
                   {"pattern", Align::left},
                   {"mtu"},
                   {"size [B]"},
                   {"pairs"},
                   {"median"},
                   {"worst"},
                   {"best"},
                   {"", Align::left}});
  for (const auto& matrix : matrices) {
    const auto& common = matrix.common;
    const auto number = [&](double value) { return matrix.values.empty() ? "-" : number_of(matrix.metric, value); };
    table.add_row({{std::string{to_string(common.connection)}},
                   {std::string{to_string(common.pattern)}},
                   {common.path_mtu ? mtu_label(*common.path_mtu) : "-"},
                   {fmt::format("{}", common.message_size_bytes)},
                   {fmt::format("{}", matrix.values.size())},
                   {number(matrix.median)},
                   {number(matrix.worst.empty() ? matrix.median : matrix.worst.front().value)},
                   {number(matrix.best ? matrix.best->value : 0)},
                   {std::string{unit_of(matrix.metric)}}});
  }
  return table.text(color);
}

/// The matrix with its rows named by `labels`, its columns by number.
std::string matrix_table(const PairMatrix& matrix, const std::vector<std::string>& labels, Color color) {
  std::vector<Column> columns{{"from \\ to", Align::left}};
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    columns.push_back({fmt::format("{}", i + 1)});
    rows.push_back({{labels[i]}});
    rows.back().resize(matrix.names.size() + 1, {"-"});
  }
  for (const auto& pair : matrix.values) {
    const bool is_worst = !matrix.worst.empty() && pair == matrix.worst.front();
    rows[pair.initiator][pair.responder + 1] = {number_of(matrix.metric, pair.value),
                                                is_worst ? Emphasis::warning : Emphasis::none};
  }
  TextTable table(std::move(columns));
  for (auto& row : rows) table.add_row(std::move(row));
  return table.text(color);
}

/// Names that make the rows too wide stand below it.
std::string small_matrix(const PairMatrix& matrix, Color color) {
  std::vector<std::string> numbers;
  std::vector<std::string> labels;
  std::string legend;
  for (const auto& name : matrix.names) {
    numbers.push_back(fmt::format("{}", numbers.size() + 1));
    labels.push_back(numbers.back() + " " + printable(name));
    legend += "  " + labels.back() + "\n";
  }
  const auto plain = matrix_table(matrix, labels, Color::off);
  const auto rule = plain.find('\n') + 1;  // as long as the longest row, and ASCII
  if (plain.find('\n', rule) - rule <= kTerminalWidth) return matrix_table(matrix, labels, color);
  return matrix_table(matrix, numbers, color) + legend;
}

std::string half_width(double fraction) { return "+-" + percent(fraction, 1) + " %"; }

std::string spread_of(const PairValue& pair) {
  return pair.half_width ? half_width(*pair.half_width) : "(no interval)";
}

/// How far each number can be trusted, of all pairs together.
std::string intervals_text(const PairMatrix& matrix) {
  if (!matrix.median_half_width) return "  no pair has an interval: too few trials\n";
  auto text = fmt::format("  the pairs' intervals (95 %, wider half): {} at the median, {} at most",
                          half_width(*matrix.median_half_width), half_width(*matrix.widest_half_width));
  if (matrix.without_interval_count > 0) {
    text += fmt::format("; {} without one, of too few trials", counted(matrix.without_interval_count, "pair"));
  }
  return text + "\n";
}

std::string worst_text(const PairMatrix& matrix) {
  std::string text;
  for (const auto& pair : matrix.worst) {
    text += fmt::format("  {} {} {}, {} the median pair\n", name_of(names_of(matrix, pair)),
                        value_of(matrix.metric, pair.value), spread_of(pair), distance(pair.value, matrix.median));
  }
  return text;
}

std::string hosts_text(const PairMatrix& matrix) {
  if (!matrix.hosts_decided) return "  too few hosts with 3 pairs or more to tell a slow one\n";
  if (matrix.slow_hosts.empty()) {
    return fmt::format("  no host is slow: none is beyond {}, the median host being {}\n",
                       value_of(matrix.metric, matrix.host_limit), value_of(matrix.metric, matrix.host_median));
  }
  std::string text;
  for (const auto& host : matrix.slow_hosts) {
    text += fmt::format(
        "  {} is slow: the median of its {} pairs is {}, {} the median host's {} (limit {}); {} of {} "
        "are worse than the median host\n",
        printable(matrix.names[host.name]), host.pair_count, value_of(matrix.metric, host.value),
        distance(host.value, matrix.host_median), value_of(matrix.metric, matrix.host_median),
        value_of(matrix.metric, matrix.host_limit), host.worse_count, host.pair_count);
  }
  return text;
}

std::string group_text(const char* what, const PairGroup& group, std::string_view reason) {
  std::string pairs;
  for (const auto& pair : group.first) pairs += (pairs.empty() ? "" : ", ") + name_of(pair);
  if (group.count > group.first.size()) pairs += ", ...";
  return fmt::format("  {} {} ({}){}{}\n", group.count, what, pairs, reason.empty() ? "" : ": ", printable(reason));
}

/// The most frequent reasons, each with its pairs.
std::string groups_text(const char* what, const std::map<std::string, PairGroup>& groups) {
  std::vector<std::pair<std::string_view, const PairGroup*>> sorted;
  sorted.reserve(groups.size());
  for (const auto& [reason, group] : groups) sorted.emplace_back(reason, &group);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second->count > b.second->count; });
  std::string text;
  std::size_t rest = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i < kMostReasons) {
      text += group_text(what, *sorted[i].second, sorted[i].first);
    } else {
      rest += sorted[i].second->count;
    }
  }
  if (rest > 0) {
    text +=
        fmt::format("  {} {} for {} more reasons, which the record has\n", rest, what, sorted.size() - kMostReasons);
  }
  return text;
}

/// What is known of the path MTU; nothing is where it was not stated.
std::string proofs_text(const PairMatrix& matrix) {
  if (!matrix.common.path_mtu) return "";
  return fmt::format("  path MTU proved for {}\n", counted(matrix.proved_count, "pair")) +
         groups_text("not proved", matrix.unproved);
}

std::string troubles_text(const PairMatrix& matrix, Color color) {
  auto text = proofs_text(matrix);
  if (matrix.contradicted.count > 0) {
    text += colored(group_text("left out: another path MTU than asked was used", matrix.contradicted, ""),
                    Emphasis::warning, color);
  }
  text += groups_text("skipped", matrix.skipped);
  if (!matrix.failed.empty()) text += colored(groups_text("failed", matrix.failed), Emphasis::warning, color);
  return text;
}

}  // namespace

std::string pair_matrix_text(const std::vector<PairMatrix>& matrices, Color color) {
  auto text = overview(matrices, color);
  for (const auto& matrix : matrices) {
    text += fmt::format("\n{} [{}]\n", title_of(matrix), unit_of(matrix.metric));
    if (!matrix.values.empty()) {
      if (matrix.names.size() <= kSmallMatrix) text += small_matrix(matrix, color);
      text += intervals_text(matrix) + worst_text(matrix) + hosts_text(matrix);
    }
    text += troubles_text(matrix, color);
  }
  return text;
}

}  // namespace mtuscope::report
