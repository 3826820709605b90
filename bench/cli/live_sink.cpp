#include "live_sink.hpp"

#include <iterator>
#include <string>
#include <utility>

namespace mtuscope::cli {

LiveSink::LiveSink(const Console& console, const std::vector<Point>& points, const Backend& backend,
                   sweep::Sink* journal)
    : console_(console),
      journal_(journal),
      backend_(backend),
      prints_rows_(console.says_to_terminal() && !console.quiet()),
      progress_(console),
      layouts_(report::lay_out(points.size(), [&](std::size_t i) -> const Point& { return points[i]; })),
      outcomes_(points.size()) {}

void LiveSink::on_responder(const Environment& responder) {
  if (journal_ != nullptr) journal_->on_responder(responder);
}

void LiveSink::on_session(const sweep::SessionRecord& session) {
  if (journal_ != nullptr) journal_->on_session(session);
}

void LiveSink::on_trial(std::size_t point_index, const Trial& trial) {
  ++trial_count_;
  if (journal_ != nullptr) journal_->on_trial(point_index, trial);
}

void LiveSink::on_outcome(std::size_t point_index, const Outcome& outcome) {
  if (journal_ != nullptr) journal_->on_outcome(point_index, outcome);
  if (!prints_rows_) return;
  keep(point_index, outcome);
  print_finished_rows();
}

void LiveSink::keep(std::size_t point_index, const Outcome& outcome) {
  auto& kept = outcomes_.at(point_index).emplace(outcome);
  if (auto* measured = std::get_if<Measured>(&kept)) measured->trials = {};
}

void LiveSink::on_progress(const sweep::Progress& progress) {
  if (journal_ != nullptr) journal_->on_progress(progress);
  progress_.update(progress);
}

void LiveSink::begin_with(const std::vector<std::optional<Outcome>>& outcomes) {
  for (std::size_t i = 0; prints_rows_ && i < outcomes.size(); ++i) {
    if (outcomes[i]) keep(i, *outcomes[i]);
  }
}

void LiveSink::finish(const std::vector<Outcome>& outcomes) {
  // What the end of the peer or of the time did to the points still open was no event of its own.
  for (std::size_t i = 0; prints_rows_ && i < outcomes.size(); ++i) {
    if (!outcomes_.at(i)) keep(i, outcomes[i]);
  }
  if (prints_rows_) print_finished_rows();
  progress_.clear();
}

bool LiveSink::finished(const std::vector<std::optional<std::size_t>>& indices) const {
  for (const auto& index : indices) {
    if (index && !outcomes_[*index]) return false;
  }
  return true;
}

void LiveSink::print_finished_rows() {
  for (; layout_ < layouts_.size(); ++layout_, row_ = 0) {
    const auto& layout = layouts_[layout_];
    for (auto row = std::next(layout.rows.begin(), static_cast<std::ptrdiff_t>(row_)); row != layout.rows.end();
         ++row, ++row_) {
      if (!finished(row->second)) return;
      print_row(layout, row->first, row->second);
    }
  }
}

void LiveSink::print_row(const report::SeriesLayout& layout, std::uint64_t message_size_bytes,
                         const std::vector<std::optional<std::size_t>>& indices) {
  const report::SeriesTable table{layout.common, layout.path_mtus, backend_.source(), backend_.name()};
  const auto columns = table.columns();
  std::vector<const Outcome*> row;
  row.reserve(indices.size());
  for (const auto& index : indices) {
    row.push_back(index && outcomes_[*index] ? &*outcomes_[*index] : nullptr);
  }
  std::string text;
  if (row_ == 0) text = "\n" + table.title() + "\n" + columns.header_lines();
  text += columns.row_line(table.row(message_size_bytes, row), console_.color());
  progress_.clear();
  console_.say(text);
}

}  // namespace mtuscope::cli
