#include <gtest/gtest.h>

#include <stdexcept>

#include "mtuscope/report/text_table.hpp"

namespace mtuscope::report {
namespace {

TEST(ReportTextTable, AlignsAndFillsMissingCells) {
  TextTable table{{{"name", Align::left, 0}, {"MB/s", Align::right, 0}}};
  table.add_row({{"a"}, {"1000.25"}});
  table.add_row({{"longer name"}});
  EXPECT_EQ(table.text(Color::off),
            "name            MB/s\n"
            "-----------  -------\n"
            "a            1000.25\n"
            "longer name\n");
}

TEST(ReportTextTable, RowsPrintedSinglyStandUnderTheHeader) {
  const TextTable table{{{"n", Align::right, 4}, {"v", Align::right, 6}}};
  EXPECT_EQ(table.header_lines() + table.row_line({{"1"}, {"2.50"}}, Color::off),
            "   n       v\n"
            "----  ------\n"
            "   1    2.50\n");
}

TEST(ReportTextTable, CountsCharactersNotBytes) {
  TextTable table{{{"x", Align::left, 0}, {"y", Align::left, 0}}};
  table.add_row({{"\xc2\xb5s"}, {"1"}});
  table.add_row({{"ns"}, {"2"}});
  EXPECT_EQ(table.text(Color::off), "x   y\n--  -\n\xc2\xb5s  1\nns  2\n");
}

TEST(ReportTextTable, ColourOnlyWhereWanted) {
  EXPECT_EQ(colored("a", Emphasis::better, Color::off), "a");
  EXPECT_EQ(colored("a", Emphasis::none, Color::on), "a");
  EXPECT_EQ(colored("a", Emphasis::better, Color::on), "\x1b[32ma\x1b[0m");
  EXPECT_EQ(colored("a", Emphasis::warning, Color::on), "\x1b[33ma\x1b[0m");
}

TEST(ReportTextTable, RefusesMoreCellsThanColumns) {
  TextTable table{{{"x", Align::left, 0}}};
  EXPECT_THROW(table.add_row({{"1"}, {"2"}}), std::invalid_argument);
}

TEST(ReportTextTable, EmptyTableIsItsHeader) {
  const TextTable table{{{"x", Align::left, 0}}};
  EXPECT_EQ(table.text(Color::off), "x\n-\n");
}

}  // namespace
}  // namespace mtuscope::report
