#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtuscope::report {

enum class Align : std::uint8_t { left, right };

/// How a cell stands out where colour is wanted; the text alone must say it too.
enum class Emphasis : std::uint8_t { none, better, warning };

struct Cell {
  std::string text;
  Emphasis emphasis = Emphasis::none;
};

struct Column {
  std::string header;
  Align align = Align::right;
  std::size_t min_width = 0;  ///< [characters]; lets rows that are printed one by one stand under each other
};

/// Whether terminal colour sequences may be written.
enum class Color : std::uint8_t { off, on };

/// Columns of text, padded with spaces. Widths are counted in UTF-8 characters.
class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns);

  /// Adds one row; missing cells are empty. Throws std::invalid_argument for more cells than columns.
  void add_row(std::vector<Cell> cells);
  /// The header line and a rule, for rows printed one by one at the columns' minimum widths.
  [[nodiscard]] std::string header_lines() const;
  /// One row at the columns' minimum widths, with its line feed.
  [[nodiscard]] std::string row_line(const std::vector<Cell>& cells, Color color) const;
  /// Everything added, every column as wide as its widest cell.
  [[nodiscard]] std::string text(Color color) const;

 private:
  [[nodiscard]] std::string line(const std::vector<Cell>& cells, const std::vector<std::size_t>& widths,
                                 Color color) const;
  [[nodiscard]] std::string head(const std::vector<std::size_t>& widths) const;
  [[nodiscard]] std::vector<std::size_t> minimum_widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// `text` in the colour of its emphasis.
[[nodiscard]] std::string colored(std::string_view text, Emphasis emphasis, Color color);

}  // namespace mtuscope::report
