#include "mtuscope/reference/tables.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "mtuscope/core/error.hpp"
#include "mtuscope/records/json.hpp"
#include "mtuscope/reference/embedded_tables.hpp"

namespace mtuscope::reference {
namespace {

struct Alias {
  std::string_view name;
  std::string_view id;
};
/// Names the tables go by besides their ids.
constexpr std::array kAliases{Alias{"tavor", "tavor-mpi-2006"}, Alias{"tavor-mpi", "tavor-mpi-2006"},
                              Alias{"tavor_mpi_bandwidth", "tavor-mpi-2006"}};

records::ResultSet parse(std::string_view text) {
  std::istringstream in{std::string(text)};
  return records::read_record(in, "posted table");
}

/// What every posted record has.
const records::Provenance& provenance_of(const records::ResultSet& table) { return table.header.provenance.value(); }

}  // namespace

std::vector<TableInfo> list_tables() {
  std::vector<TableInfo> infos;
  for (const auto text : kEmbeddedTables) {
    const auto table = parse(text);
    const auto& provenance = provenance_of(table);
    infos.push_back({provenance.id, provenance.title, provenance.reference, table.points.size()});
  }
  std::ranges::sort(infos, {}, &TableInfo::id);
  return infos;
}

records::ResultSet load_table(std::string_view id) {
  const auto* alias = std::ranges::find(kAliases, id, &Alias::name);
  const auto wanted = alias == kAliases.end() ? id : alias->id;
  std::string known;
  for (const auto text : kEmbeddedTables) {
    auto table = parse(text);
    const auto& found = provenance_of(table).id;
    if (found == wanted) return table;
    known.append(known.empty() ? "" : ", ").append(found);
  }
  throw ConfigError("there is no posted table \"" + std::string(id) + "\"; there are: " + known);
}

}  // namespace mtuscope::reference
