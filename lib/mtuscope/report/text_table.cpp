#include "mtuscope/report/text_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mtuscope::report {
namespace {

constexpr std::string_view kGap = "  ";

std::size_t width_of(std::string_view text) noexcept {
  // Continuation bytes of UTF-8 (10xxxxxx) do not begin a character.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string colored(std::string_view text, Emphasis emphasis, Color color) {
  if (color == Color::off || emphasis == Emphasis::none) return std::string{text};
  std::string out{emphasis == Emphasis::better ? "\x1b[32m" : "\x1b[33m"};
  out.append(text).append("\x1b[0m");
  return out;
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<Cell> cells) {
  if (cells.size() > columns_.size()) throw std::invalid_argument{"text table: more cells than columns"};
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::minimum_widths() const {
  std::vector<std::size_t> widths;
  widths.reserve(columns_.size());
  for (const auto& column : columns_) widths.push_back(std::max(column.min_width, width_of(column.header)));
  return widths;
}

std::string TextTable::line(const std::vector<Cell>& cells, const std::vector<std::size_t>& widths, Color color) const {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto width = width_of(cells[i].text);
    const std::string padding(widths[i] > width ? widths[i] - width : 0, ' ');
    if (i > 0) out.append(kGap);
    if (columns_[i].align == Align::right) out.append(padding);
    out.append(colored(cells[i].text, cells[i].emphasis, color));
    if (columns_[i].align == Align::left) out.append(padding);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out.append("\n");
}

std::string TextTable::head(const std::vector<std::size_t>& widths) const {
  std::vector<Cell> headers;
  std::vector<Cell> rules;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headers.push_back({columns_[i].header, Emphasis::none});
    rules.push_back({std::string(widths[i], '-'), Emphasis::none});
  }
  return line(headers, widths, Color::off) + line(rules, widths, Color::off);
}

std::string TextTable::header_lines() const { return head(minimum_widths()); }

std::string TextTable::row_line(const std::vector<Cell>& cells, Color color) const {
  return line(cells, minimum_widths(), color);
}

std::string TextTable::text(Color color) const {
  auto widths = minimum_widths();
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i].text));
  }
  std::string out = head(widths);
  for (const auto& row : rows_) out.append(line(row, widths, color));
  return out;
}

}  // namespace mtuscope::report
