#include <array>
#include <filesystem>
#include <system_error>

#include "commands.hpp"
#include "mtuscope/analysis/laws.hpp"
#include "mtuscope/analysis/posted.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/printable.hpp"
#include "mtuscope/records/record_file.hpp"
#include "mtuscope/reference/tables.hpp"
#include "mtuscope/report/compare_text.hpp"
#include "mtuscope/report/series_table.hpp"

namespace mtuscope::cli {
namespace {

/// A file of that name, or else the posted table of that id.
records::ResultSet load(const std::string& name) {
  std::error_code ignored;  // a name that cannot be looked up is no file
  if (std::filesystem::exists(name, ignored)) return records::read_record_file(name);
  if (name.find_first_of("/.") != std::string::npos) {
    throw ConfigError{name + ": there is no such file: write a record with mtuscope sweep --out FILE"};
  }
  return reference::load_table(name);
}

bool has_laws(const records::ResultSet& table) {
  return table.header.provenance && table.header.provenance->id == analysis::kTavorTableId;
}

std::string source_line(const records::ResultSet& run, const records::ResultSet& table) {
  std::string line = "run: ";
  line += report::label_of(run.header.source, run.header.backend);
  line += printable(run.header.provenance ? run.header.provenance->title : run.header.backend);
  if (!run.complete) line += " (INCOMPLETE)";
  line += "\ntable: ";
  line += report::label_of(table.header.source, table.header.backend);
  if (!table.header.provenance) return line + printable(table.header.backend) + "\n";
  return line + printable(table.header.provenance->id + ": " + table.header.provenance->title) + "\n";
}

ExitCode worse(ExitCode a, ExitCode b) {
  // Failed outweighs undecided outweighs ok.
  if (a == ExitCode::requirement_failed || b == ExitCode::requirement_failed) return ExitCode::requirement_failed;
  return a == ExitCode::ok ? b : a;
}

ExitCode judged(const std::array<analysis::LawResult, 4>& laws) {
  auto code = ExitCode::ok;
  for (const auto& law : laws) {
    if (law.verdict == analysis::LawVerdict::fail) code = worse(code, ExitCode::requirement_failed);
    if (law.verdict == analysis::LawVerdict::not_tested) code = worse(code, ExitCode::undecided);
  }
  return code;
}

}  // namespace

ExitCode run_compare(const CompareOptions& options, const CommandContext& context) {
  const auto table = load(options.table);
  const auto run = load(options.run);
  if (options.require && !has_laws(table)) {
    throw ConfigError{"--require: " + options.table + " states no laws; only " + std::string{analysis::kTavorTableId} +
                      " does"};
  }
  const auto result = analysis::compare_with_table(run, table);
  if (result.comparisons.empty()) {
    Console::complain(options.run + " cannot be compared with " + options.table + ": " + result.refusal);
    return ExitCode::undecided;
  }
  auto code = ExitCode::ok;
  std::string text = source_line(run, table);
  for (const auto& comparison : result.comparisons) {
    text += "\n" + report::comparison_title(comparison) + "\n";
    text += report::pairs_text(comparison, run.header.source, table.header.source) + "\n";
    text += report::crossovers_text(comparison.table, comparison.metric, "table");
    text += report::crossovers_text(comparison.run, comparison.metric, "run");
    if (!has_laws(table)) continue;
    const auto laws = analysis::judge_tavor_laws(comparison);
    text += "\n" + report::laws_text(laws, run.header.source, context.console.color());
    code = worse(code, judged(laws));
  }
  Console::answer(text);
  return options.require ? code : ExitCode::ok;
}

}  // namespace mtuscope::cli
