#include <fmt/format.h>

#include <set>
#include <sstream>

#include "commands.hpp"
#include "mtuscope/records/json_writer.hpp"
#include "mtuscope/reference/tables.hpp"

namespace mtuscope::cli {
namespace {

/// The words of one axis that a table's points have, "rc, uc".
template <class Axis>
std::string words_of(const records::ResultSet& table, Axis axis) {
  std::set<std::string> words;
  for (const auto& [point, outcome] : table.points) words.emplace(to_string(point.*axis));
  return fmt::format("{}", fmt::join(words, ", "));
}

void write_json(const std::vector<records::ResultSet>& tables, std::ostream& out) {
  records::JsonWriter json{out};
  json.begin_array();
  for (const auto& table : tables) {
    const auto provenance = table.header.provenance.value_or(records::Provenance{});
    json.line_break();
    json.begin_object();
    json.key("id");
    json.string(provenance.id);
    json.key("title");
    json.string(provenance.title);
    json.key("reference");
    json.string(provenance.reference);
    json.key("point_count");
    json.unsigned_integer(table.points.size());
    json.key("not_stated");
    json.begin_array();
    for (const auto& item : provenance.not_stated) json.string(item);
    json.end_array();
    json.end_object();
  }
  json.line_break();
  json.end_array();
}

}  // namespace

ExitCode run_tables(const TablesOptions& options, const CommandContext& context) {
  std::vector<records::ResultSet> tables;
  for (const auto& entry : reference::list_tables()) tables.push_back(reference::load_table(entry.id));
  if (options.json) {
    std::ostringstream out;
    write_json(tables, out);
    Console::answer(out.str() + "\n");
    return ExitCode::ok;
  }
  report::TextTable text{{{"id", report::Align::left, 0},
                          {"points", report::Align::right, 0},
                          {"connection", report::Align::left, 0},
                          {"pattern", report::Align::left, 0},
                          {"title", report::Align::left, 0}}};
  for (const auto& table : tables) {
    const auto provenance = table.header.provenance.value_or(records::Provenance{});
    text.add_row({{provenance.id},
                  {fmt::format("{}", table.points.size())},
                  {words_of(table, &Point::connection)},
                  {words_of(table, &Point::pattern)},
                  {provenance.title}});
  }
  Console::answer("POSTED tables, not measured here:\n" + text.text(context.console.color()));
  return ExitCode::ok;
}

}  // namespace mtuscope::cli
