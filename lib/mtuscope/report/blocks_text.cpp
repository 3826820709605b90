#include "mtuscope/report/blocks_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mtuscope/core/printable.hpp"
#include "mtuscope/report/series_table.hpp"
#include "mtuscope/report/units.hpp"

namespace mtuscope::report {
namespace {

using analysis::BlockStudy;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * 1024;

std::string kilobytes(double bytes) { return fmt::format("{:g}", bytes / kKiB); }

std::string edge_text(const std::optional<analysis::DropEdge>& edge, bool measured) {
  if (!measured) return "-";
  if (!edge) return "none";
  return fmt::format("{} ({})", kilobytes(static_cast<double>(edge->good_size_bytes)),
                     kilobytes(static_cast<double>(edge->dropped_size_bytes)));
}

std::string interval_text(const analysis::CapacityInterval& interval) {
  return fmt::format("[{} {}]", interval.low_pages ? fmt::format("{}", *interval.low_pages) : "-",
                     interval.high_pages ? fmt::format("{}", *interval.high_pages) : "-");
}

std::string curves_text(const BlockStudy& study, Color color) {
  TextTable table{{{"blocks"},
                   {"block KiB"},
                   {"order", Align::left},
                   {"alias"},
                   {"mtu"},
                   {"up (drops at) KiB"},
                   {"down (drops at) KiB"},
                   {"loop KiB"},
                   {"capacity pages"}}};
  for (const auto& curve : study.curves) {
    const auto& set = *curve.common.working_set;
    table.add_row({{fmt::format("{}", set.block_count)},
                   {kilobytes(static_cast<double>(set.block_size_bytes))},
                   {std::string{to_string(set.order)}},
                   {fmt::format("{}", set.alias_count)},
                   {curve.common.path_mtu ? mtu_label(*curve.common.path_mtu) : "-"},
                   {edge_text(curve.up_edge, !curve.up.empty())},
                   {edge_text(curve.down_edge, !curve.down.empty())},
                   {curve.loop_area_bytes ? fmt::format("{:.2f}", *curve.loop_area_bytes / kKiB) : "-"},
                   {interval_text(curve.capacity)}});
  }
  return table.text(color);
}

std::string capacity_text(const BlockStudy& study) {
  if (study.largest_page_count == 0) return "capacity: no block was reused in FIFO order\n";
  if (!study.collapses) return "capacity: undecided, the working sets do not agree on the pages per cycle\n";
  const auto& [low, high] = study.capacity;
  const bool any = std::ranges::any_of(study.curves, [](const auto& curve) {
    return curve.common.working_set->order == ReuseOrder::fifo && (curve.up_edge || curve.down_edge);
  });
  if (!any) return fmt::format("no cliff up to {} pages\n", study.largest_page_count);
  auto text = fmt::format("capacity: {} pages per cycle", interval_text(study.capacity));
  if (study.page_size_bytes == 0) return text + "; the page sizes differ\n";
  const auto mebibytes = [&](const std::optional<std::uint64_t>& pages) {
    return pages ? fmt::format("{:.2f}", static_cast<double>(*pages * study.page_size_bytes) / kMiB) : "-";
  };
  return text + fmt::format(", [{} {}] MiB\n", mebibytes(low), mebibytes(high));
}

std::string attribution_text(const BlockReport& report) {
  const bool any = std::ranges::any_of(report.study.curves, [](const auto& c) { return c.up_edge || c.down_edge; });
  if (!any) return "";
  if (!report.floors_flat) return "drop not attributed: no floors measured\n";
  return *report.floors_flat ? "the drop is the device's: both floors (null, memset) are flat there\n"
                             : "drop not attributed: a floor (null, memset) drops too\n";
}

std::string need_text(const BlockReport& report) {
  if (!report.need_bytes) return "";
  std::string_view word = "undecided";
  const auto verdict = analysis::judge_need(report.study, *report.need_bytes);
  if (verdict == analysis::NeedVerdict::pass) word = "pass";
  if (verdict == analysis::NeedVerdict::fail) word = "fail";
  return fmt::format("need of {} B: {}\n", *report.need_bytes, word);
}

}  // namespace

std::string blocks_text(const BlockReport& report, Color color) {
  return fmt::format("{}{}\n", label_of(report.source, report.backend), printable(report.backend)) +
         curves_text(report.study, color) +
         fmt::format("dropped: more than {} % above the floor's time per message, with its interval clear of it\n",
                     percent(report.drop, 1)) +
         capacity_text(report.study) + attribution_text(report) + need_text(report);
}

}  // namespace mtuscope::report
