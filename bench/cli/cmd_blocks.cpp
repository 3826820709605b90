#include <filesystem>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/records/record_file.hpp"
#include "mtuscope/report/blocks_text.hpp"

namespace mtuscope::cli {
namespace {

/// The names of the floors' records: given, or beside the run where both are there.
std::vector<std::string> floor_files(const BlocksOptions& options) {
  if (!options.floors.empty()) return options.floors;
  const std::filesystem::path run{options.run};
  std::vector<std::string> files;
  for (const auto* floor : {".null.json", ".memset.json"}) {
    auto file = run;
    file.replace_extension(floor);
    std::error_code ignored;  // a name that cannot be looked up is no file
    if (std::filesystem::exists(file, ignored)) files.push_back(file.string());
  }
  return files.size() == 2 ? files : std::vector<std::string>{};
}

/// A floor must have cycled through as many pages as the run.
bool is_flat(const std::string& file, const std::string& backend, const analysis::BlockStudy& run,
             const analysis::BlockPolicy& policy) {
  const auto record = records::read_record_file(file);
  if (record.header.backend != backend) {
    throw ConfigError{file + ": is no record of the back end " + backend + ": give --floors NULL,MEMSET in this order"};
  }
  const auto study = analysis::study_blocks(record, policy);
  if (study.largest_page_count < run.largest_page_count) {
    throw ConfigError{file + ": cycles through fewer pages than the run: measure it with the run's blocks and sizes"};
  }
  for (const auto& curve : study.curves) {
    if (curve.up_edge || curve.down_edge) return false;
  }
  return true;
}

}  // namespace

ExitCode run_blocks(const BlocksOptions& options, const CommandContext& context) {
  const auto record = records::read_record_file(options.run);
  const analysis::BlockPolicy policy{options.drop};
  report::BlockReport report{analysis::study_blocks(record, policy), record.header.source, record.header.backend,
                             options.drop};
  if (report.study.curves.empty()) {
    throw ConfigError{options.run + ": no point of it cycles through blocks: measure with sweep --blocks"};
  }
  const auto floors = floor_files(options);
  if (!floors.empty()) {
    const bool null_flat = is_flat(floors.at(0), "null", report.study, policy);
    report.floors_flat = is_flat(floors.at(1), "memset", report.study, policy) && null_flat;
  }
  report.need_bytes = options.need_bytes;
  Console::answer(report::blocks_text(report, context.console.color()));
  if (!options.need_bytes) return ExitCode::ok;
  const auto verdict = analysis::judge_need(report.study, *options.need_bytes);
  if (verdict == analysis::NeedVerdict::fail) return ExitCode::requirement_failed;
  return verdict == analysis::NeedVerdict::pass ? ExitCode::ok : ExitCode::undecided;
}

}  // namespace mtuscope::cli
