#pragma once
#include <string>

#include "mtuscope/records/result_set.hpp"
#include "mtuscope/report/text_table.hpp"

namespace mtuscope::report {

/// Every table of a record, each under its title line.
[[nodiscard]] std::string tables_text(const records::ResultSet& record, Color color);

/// What a reader must know beside the numbers: which MTU was proved and how, what was skipped or failed and why (each
/// reason once), and that a record is incomplete.
[[nodiscard]] std::string notes_text(const records::ResultSet& record, Color color);

}  // namespace mtuscope::report
