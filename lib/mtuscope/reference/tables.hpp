#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/records/result_set.hpp"

namespace mtuscope::reference {

/// One line of `mtuscope tables`.
struct TableInfo {
  std::string id;  ///< "tavor-mpi-2006"
  std::string title;
  std::string reference;  ///< where it was published
  std::size_t point_count = 0;
};

/// The posted tables that were compiled in, ascending by id.
[[nodiscard]] std::vector<TableInfo> list_tables();

/// One posted table, by its id or an alias ("tavor"). Throws ConfigError naming the ids there are.
[[nodiscard]] records::ResultSet load_table(std::string_view id);

}  // namespace mtuscope::reference
