#include "run_record.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <filesystem>

#include "console.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/version.hpp"
#include "mtuscope/records/journal_file.hpp"

namespace mtuscope::cli {
namespace {

std::string utc_now() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

records::RecordHeader make_header(const Backend& backend, const sweep::SweepSpec& spec, const Environment& environment,
                                  const CommandContext& context) {
  records::RecordHeader header;
  header.source = backend.source();
  header.backend = backend.name();
  header.created_utc = utc_now();
  header.mtuscope_version = kVersion;
  header.git_revision = kGitRevision;
  header.command_line = context.command_line;
  header.spec = spec;
  header.initiator = environment;
  return header;
}

void write_file_or_say_where(const SweepOptions& options, const records::RecordBody& write) {
  const auto& path = options.out;
  try {
    if (!options.overwrite && !options.resume && std::filesystem::is_regular_file(path)) {
      throw RunError{path + " was made by somebody else during the run and is left as it is; move it away"};
    }
    records::write_record_file(path, write);
  } catch (const RunError& error) {
    if (records::is_special_file(path)) throw;  // it has no journal
    throw RunError{std::string{error.what()} + "; every trial is in " + records::journal_path(path) +
                   ": the same options and --resume write the record from it"};
  }
}

void RunJudge::add(const std::vector<sweep::SessionRecord>& sessions, const std::vector<records::PointResult>& points) {
  points_ += points.size();
  for (const auto& [point, outcome] : points) {
    if (std::holds_alternative<Measured>(outcome)) ++measured_;
    if (const auto* skip = std::get_if<Skipped>(&outcome); skip != nullptr && first_skip_.empty()) {
      first_skip_ = describe(point) + ": " + skip->reason;
    }
    const auto* failure = std::get_if<Failed>(&outcome);
    if (failure != nullptr && failed_++ == 0) first_failure_ = describe(point) + ": " + failure->reason;
  }
  for (const auto& session : sessions) {
    if (!contradiction_.empty() || session.proof.verdict != ProofVerdict::contradicted) continue;
    const auto& pair = points.empty() ? std::nullopt : points.front().point.pair;
    contradiction_ =
        fmt::format("the path MTU {} is contradicted{}: {}", to_bytes(session.proof.asked),
                    pair ? " from " + pair->initiator + " to " + pair->responder : "", session.proof.reason);
  }
}

ExitCode RunJudge::judge(const std::optional<std::string>& ending) const {
  auto code = ExitCode::ok;
  const auto complain = [&code](const std::string& what) {
    Console::complain(what);
    code = ExitCode::run_failed;
  };
  if (ending) complain(fmt::format("{} of {} points have a trial: the run {}", measured_, points_, *ending));
  if (failed_ > 0) complain(fmt::format("{} of {} points failed: the first was {}", failed_, points_, first_failure_));
  if (measured_ == 0 && failed_ == 0 && !ending) complain("no point could be measured: " + first_skip_);
  if (!contradiction_.empty()) complain(contradiction_);
  return code;
}

}  // namespace mtuscope::cli
