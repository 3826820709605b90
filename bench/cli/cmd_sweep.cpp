#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include "backends.hpp"
#include "commands.hpp"
#include "ends.hpp"
#include "live_sink.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/model/catalog.hpp"
#include "mtuscope/records/journal.hpp"
#include "mtuscope/records/json.hpp"
#include "mtuscope/records/record_file.hpp"
#include "mtuscope/report/record_text.hpp"
#include "mtuscope/report/units.hpp"
#include "mtuscope/sweep/planner.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "placement.hpp"
#include "run_record.hpp"
#include "sweep_plan.hpp"

namespace mtuscope::cli {
namespace {

/// A plan does not say on what it runs, and numbers of two back ends or devices must not become one record.
void check_same_ends(const records::RecordHeader& before, const records::RecordHeader& now, const std::string& path) {
  const auto was = before.initiator ? name_of(*before.initiator) : "an unknown host";
  const auto is = name_of(*now.initiator);
  if (before.backend == now.backend && was == is) return;
  throw ConfigError{"--resume: " + path + " was measured with " + before.backend + " on " + was + ", this run is " +
                    now.backend + " on " + is + ": give the same back end and device"};
}

/// The journal beside the record, if there is a file for one; after a failure it stays only if there is something in
/// it.
class JournalKeeper {
 public:
  JournalKeeper(const SweepOptions& options, const records::RecordHeader& header, const std::vector<Point>& points) {
    if (options.out.empty() || options.out == "-" || records::is_special_file(options.out)) {
      if (options.resume) throw ConfigError{"--resume: needs --out FILE, beside which the journal lies"};
      return;
    }
    records::check_writable(options.out);
    const auto path = records::journal_path(options.out);
    if (options.resume) {
      check_same_ends(records::read_journal(path).header, header, path);
      resume_ = records::load_journal(path, *header.spec, points);
    }
    keep_ = options.resume;
    journal_ = std::make_unique<records::Journal>(
        path, options.resume ? records::Journal::Mode::resume : records::Journal::Mode::start, header, points);
  }
  JournalKeeper(const JournalKeeper&) = delete;
  JournalKeeper& operator=(const JournalKeeper&) = delete;
  ~JournalKeeper() {
    if (!journal_ || keep_) return;
    try {
      journal_->discard();
    } catch (const std::exception& error) {
      log(LogLevel::warning, error.what());
    }
  }

  [[nodiscard]] sweep::Sink* sink() const noexcept { return journal_.get(); }
  [[nodiscard]] sweep::Resume take_resume() { return std::move(resume_); }
  /// Whether the journal outlives this run: it is needed to go on.
  void keep(bool needed) noexcept { keep_ = needed; }
  [[nodiscard]] bool kept() const noexcept { return journal_ && keep_; }

 private:
  std::unique_ptr<records::Journal> journal_;
  sweep::Resume resume_;
  bool keep_ = false;
};

/// What ended a run early, if anything did.
std::optional<std::string> ending_of(const sweep::RunResult& result) {
  if (result.lost_reason) return "ended with its peer: " + *result.lost_reason;
  if (result.gave_up_reason) return "gave up a part of its plan: " + *result.gave_up_reason;
  if (result.interrupted) return "was interrupted";
  return std::nullopt;
}

records::ResultSet make_record(records::RecordHeader header, sweep::RunResult result) {
  records::ResultSet record;
  record.complete = !ending_of(result);
  record.header = std::move(header);
  record.header.initiator = std::move(result.initiator);
  record.header.responder = std::move(result.responder);
  record.sessions = std::move(result.sessions);
  record.points = records::take_results(result);
  return record;
}

void write_output(const SweepOptions& options, const records::ResultSet& record, const CommandContext& context) {
  if (options.out == "-") {
    records::write_record(std::cout, record);
    std::cout.flush();
    if (!std::cout) throw RunError{"writing the record to standard output failed: is its reader gone?"};
  } else if (!options.out.empty()) {
    write_file_or_say_where(options, [&record](std::ostream& out) { records::write_record(out, record); });
    context.console.say("record: " + options.out + "\n");
  } else {
    context.console.say("nothing was saved: --out FILE keeps the record, with every trial\n");
  }
}

std::string introduction(const SweepEnds& ends, const sweep::SweepSpec& spec, std::size_t point_count) {
  const auto& backend = ends.backend;
  std::string text{report::label_of(backend.source(), backend.name())};
  text += backend.name();
  if (ends.exchange != nullptr) text += ", other end " + ends.exchange->peer_name();
  const auto trials = backend.deterministic() ? 1 : spec.stop.min_trials;
  const auto arrangements = backend.deterministic() ? 1 : spec.stop.arrangements;
  return text + fmt::format(": {}, at least {} each over {}, seed {}\n", report::counted(point_count, "point"),
                            report::counted(trials, "trial"), report::counted(arrangements, "arrangement"), spec.seed);
}

/// Runs, and takes the progress line away in any case. After a failure the journal stays if it holds a trial.
sweep::RunResult run_or_tidy_up(const SweepOptions& options, const std::function<sweep::RunResult()>& run,
                                LiveSink& sink, JournalKeeper& journal) {
  try {
    auto result = run();
    sink.finish(result.outcomes);
    return result;
  } catch (const std::exception&) {
    sink.abandon();
    journal.keep(options.resume || sink.trial_count() > 0);
    throw;
  }
}

}  // namespace

// Another run's record may have taken hours, so it is not replaced unasked.
void check_output(const SweepOptions& options) {
  if (options.out == "-" || options.out.empty()) return;
  records::check_writable(options.out);
  if (options.resume || options.overwrite || !std::filesystem::is_regular_file(options.out)) return;
  if (std::filesystem::exists(records::journal_path(options.out))) return;  // which has a better advice
  throw ConfigError{"--out: " + options.out + " exists: name another file, or replace it with --overwrite"};
}

ExitCode measure(const SweepOptions& options, const sweep::SweepSpec& spec, const SweepEnds& ends,
                 const CommandContext& context) {
  const auto points = sweep::plan_points(spec);
  const auto environment = describe_end(ends.backend, ends.cpu);
  auto header = make_header(ends.backend, spec, environment, context);
  JournalKeeper journal{options, header, points};
  LiveSink sink{context.console, points, ends.backend, journal.sink()};
  context.console.say(introduction(ends, spec, points.size()));
  auto resume = journal.take_resume();
  sink.begin_with(resume.outcomes);
  const auto run = [&] {
    return ends.run(spec, {ends.backend, ends.exchange, sink, context.stop, std::move(resume), environment});
  };
  auto result = run_or_tidy_up(options, run, sink, journal);
  const auto ending = ending_of(result);
  const auto record = make_record(std::move(header), std::move(result));
  journal.keep(true);  // until the record is safe
  if (!sink.prints_rows()) context.console.say("\n" + report::tables_text(record, context.console.color()));
  context.console.say("\n" + report::notes_text(record, context.console.color()));
  if (const auto assumed = model::model_assumption(ends.backend.name()); !assumed.empty()) {
    context.console.say(fmt::format("ASSUMED by {}: {}\n", record.header.backend, assumed));
  }
  write_output(options, record, context);
  journal.keep(!record.complete);
  if (journal.kept()) {
    context.console.say("journal: " + records::journal_path(options.out) +
                        ": go on with the same options and --resume\n");
  }
  RunJudge judge;
  judge.add(record.sessions, record.points);
  return judge.judge(ending);
}

ExitCode run_sweep_command(const SweepOptions& options, const CommandContext& context) {
  check_output(options);
  const auto backend = make_backend(options.backend, options.device);
  const auto spec = complete_plan(options, *backend);
  const OtherEnd other_end{options, *backend};
  // After the loopback's other end was started: it shall not be pinned to the same CPU.
  const auto cpu = place_thread(options.placement);
  return measure(options, spec, {*backend, other_end.exchange(), cpu}, context);
}

}  // namespace mtuscope::cli
