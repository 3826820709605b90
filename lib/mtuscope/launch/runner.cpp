#include "mtuscope/launch/runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <sstream>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/core/printable.hpp"
#include "mtuscope/launch/process.hpp"
#include "mtuscope/records/header_json.hpp"
#include "mtuscope/records/json.hpp"
#include "mtuscope/sweep/ledger.hpp"

namespace mtuscope::launch {
namespace {

/// A record of the default sizes has some hundred kB per launch.
constexpr std::size_t kMaxRecordBytes = 256U << 20U;

class LaunchedMpi final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "mpi"; }
  [[nodiscard]] Source source() const noexcept override { return Source::measured; }
  [[nodiscard]] bool needs_peer() const noexcept override { return false; }
  [[nodiscard]] bool deterministic() const noexcept override { return false; }
  [[nodiscard]] std::optional<std::string> refusal(const Point& /*point*/, const Environment* /*peer*/) const override {
    return std::nullopt;  // the launched program says so itself
  }
  [[nodiscard]] Environment environment() const override { return {}; }
  [[nodiscard]] std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> /*specs*/, Role /*role*/,
                                                           Exchange* /*exchange*/) override {
    throw RunError("MPI is launched once per path MTU; it has no session to open");
  }
};

/// Whether two points are the same but for what the hosts decide themselves.
bool same_point(const Point& a, const Point& b) {
  return a.connection == b.connection && a.operation == b.operation && a.pattern == b.pattern &&
         a.path_mtu == b.path_mtu && a.message_size_bytes == b.message_size_bytes;
}

std::string joined(const std::vector<std::uint64_t>& values) {
  std::string text;
  for (const auto value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

/// The last lines that say something, in one that is not too long.
std::string last_words(std::string_view text) {
  constexpr std::size_t kMaxLines = 12;
  constexpr std::size_t kMaxBytes = 1200;
  if (text.size() > 4 * kMaxBytes) text.remove_prefix(text.size() - 4 * kMaxBytes);
  std::deque<std::string> lines;
  std::istringstream stream{std::string{text}};
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of("-=* \t\r") == std::string::npos) continue;
    lines.push_back(printable(line));
    if (lines.size() > kMaxLines) lines.pop_front();
  }
  std::string words;
  for (const auto& line : lines) words += (words.empty() ? "" : " | ") + line;
  return words.size() > kMaxBytes ? "... " + words.substr(words.size() - kMaxBytes) : words;
}

/// Why a launch has no record, with the launcher's own last words.
std::string failure_of(const ProcessResult& result, const Launcher& launcher) {
  constexpr int kUsage = 2;
  std::string what = launcher.command.front();
  if (result.timed_out) {
    what += " did not end within " + std::to_string(launcher.timeout_ns / 1'000'000'000U) + " s (--launch-timeout)";
  } else {
    what += " ended with exit code " + std::to_string(result.exit_code) + " and without a record";
    if (result.exit_code == 0) what += ": does it start what follows it?";
    if (result.exit_code == kUsage) what += ": a rank refused its options";
  }
  const auto words = last_words(result.last_lines.empty() ? result.output : result.last_lines);
  if (!words.empty()) what += "; its last words: " + words;
  if (::geteuid() == 0 && result.last_lines.find("as root") != std::string::npos) {
    what += "; run as another user, or put --allow-run-as-root into --launcher yourself";
  }
  return what;
}

class LaunchRunner {
 public:
  LaunchRunner(const sweep::SweepSpec& spec, sweep::RunContext& context, const Launcher& launcher)
      : spec_(spec),
        context_(context),
        launcher_(launcher),
        hosts_before_(std::move(context.resume.responder)),
        ledger_(spec, false, context.sink, std::move(context.resume)) {}

  sweep::RunResult run() {
    result_.initiator = context_.environment;
    for (std::uint32_t block = 0; work_left() && !ending(); ++block) run_block(block);
    if (launched_ == 0 && ledger_.trial_count() == 0 && !failures_.empty()) {
      throw RunError("no launch worked: nothing was measured");
    }
    result_.interrupted = context_.stop;
    if (!failures_.empty()) result_.gave_up_reason = failures_.begin()->second;
    for (std::size_t i = 0; i < ledger_.points().size(); ++i) end_early(i);
    ledger_.move_into(result_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] PathMtu path_mtu_of(std::size_t i) const { return *ledger_.points()[i].path_mtu; }

  /// Whether a point is open whose path MTU has had no failed launch.
  [[nodiscard]] bool work_left() const {
    for (std::size_t i = 0; i < ledger_.points().size(); ++i) {
      if (ledger_.is_open(i) && !failures_.contains(path_mtu_of(i))) return true;
    }
    return false;
  }

  void end_early(std::size_t i) {
    if (!ledger_.is_open(i)) return;
    const auto failure = failures_.find(path_mtu_of(i));
    if (failure != failures_.end()) return ledger_.end_early(i, "a launch failed", failure->second);
    ledger_.end_early(i, context_.stop ? "interrupted" : "stopped by --max-time", std::nullopt);
  }

  void run_block(std::uint32_t block) {
    auto path_mtus = spec_.path_mtus;
    if (block % 2 == 1) std::reverse(path_mtus.begin(), path_mtus.end());
    if (ledger_.block_missing(block)) {
      ledger_.begin_arrangement();
      for (const auto path_mtu : path_mtus) {
        if (!ending() && !failures_.contains(path_mtu)) launch(block, path_mtu);
      }
    }
    if (block + 1 >= ledger_.blocks() && !context_.stop) ledger_.stop_finished();
  }

  /// Points of a path MTU that lack a trial of a block.
  [[nodiscard]] std::vector<std::size_t> missing(std::uint32_t block, PathMtu path_mtu) const {
    std::vector<std::size_t> points;
    const auto first = block * ledger_.rounds_per_block();
    for (std::size_t i = 0; i < ledger_.points().size(); ++i) {
      if (path_mtu_of(i) != path_mtu) continue;
      for (auto round = first; round < first + ledger_.rounds_per_block(); ++round) {
        if (ledger_.is_settled(i, round)) continue;
        points.push_back(i);
        break;
      }
    }
    return points;
  }

  void launch(std::uint32_t block, PathMtu path_mtu) {
    const auto points = missing(block, path_mtu);
    if (points.empty()) return;
    try {
      const auto spec = launch_spec(points, path_mtu);
      const auto process =
          run_process(command_for(spec), Deadline::after_ns(launcher_.timeout_ns), context_.stop, kMaxRecordBytes);
      if (process.stopped) return;
      auto record = record_of(process);
      check_plan(spec, record);
      warn_of(process.exit_code);
      meet_hosts(record.header);
      ++launched_;
      take_sessions(record, path_mtu);
      take_trials(points, record, block * ledger_.rounds_per_block());
    } catch (const ConfigError&) {
      throw;
    } catch (const std::exception& error) {
      auto what = "the launch at path MTU " + std::to_string(to_bytes(path_mtu)) + " failed: " + error.what();
      log(LogLevel::error, what);
      failures_.emplace(path_mtu, std::move(what));
    }
  }

  /// What one launch measures.
  [[nodiscard]] sweep::SweepSpec launch_spec(const std::vector<std::size_t>& points, PathMtu path_mtu) const {
    auto spec = spec_;
    spec.path_mtus = {path_mtu};
    auto& sizes = spec.message_sizes_bytes;
    sizes.clear();
    for (const auto i : points) sizes.push_back(ledger_.points()[i].message_size_bytes);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    spec.stop.arrangements = 1;
    spec.stop.min_trials = spec.stop.max_trials = ledger_.rounds_per_block();
    return spec;
  }

  /// The plan's options come last: of an option given twice, mtuscope-mpi takes the last.
  [[nodiscard]] std::vector<std::string> command_for(const sweep::SweepSpec& spec) const {
    const auto path_mtu = spec.path_mtus.front();
    auto command = launcher_.command;
    command.insert(command.end(), {launcher_.program, "--quiet", "sweep"});
    command.insert(command.end(), launcher_.options.begin(), launcher_.options.end());
    const auto asked = setting(launcher_.knob, path_mtu);
    if (!asked.empty()) command.insert(command.end(), {"--env", asked});
    command.insert(
        command.end(),
        {"--backend", "mpi", "--mtu", std::to_string(to_bytes(path_mtu)), "--size", joined(spec.message_sizes_bytes),
         "--arrangements", "1", "--min-trials", std::to_string(spec.stop.min_trials), "--max-trials",
         std::to_string(spec.stop.max_trials), "--seed", std::to_string(spec.seed), "--out", "-"});
    return command;
  }

  /// A launcher may print something before the record, and after it.
  [[nodiscard]] records::ResultSet record_of(const ProcessResult& process) const {
    constexpr std::string_view kEnd = "\n}\n";
    const auto begin = process.output.find("{\n\"schema\"");
    if (begin == std::string::npos) throw RunError(failure_of(process, launcher_));
    const auto end = process.output.find(kEnd, begin);
    std::istringstream text{process.output.substr(begin, end == std::string::npos ? end : end + kEnd.size() - begin)};
    try {
      auto record = records::read_record(text, "the record of the launch");
      if (!record.complete) throw RunError(failure_of(process, launcher_));
      return record;
    } catch (const ConfigError& error) {  // damaged: the launch's fault, not the user's
      throw RunError(error.what());
    }
  }

  /// Numbers of another plan must not become ours. How ranks wait is theirs to decide.
  static void check_plan(const sweep::SweepSpec& wanted, const records::ResultSet& record) {
    if (!record.header.spec) throw RunError("the record of the launch has no plan");
    auto ours = wanted;
    ours.wait_mode = record.header.spec->wait_mode;
    if (sweep::plan_hash(ours) == sweep::plan_hash(*record.header.spec) &&
        ours.stop.max_trials == record.header.spec->stop.max_trials) {
      return;
    }
    throw RunError("the record of the launch has another plan (" +
                   records::plan_differences(*record.header.spec, ours) +
                   "): does --launcher start what follows it, and add no options?");
  }

  /// 3 is a rank's own: its record says why.
  void warn_of(int exit_code) const {
    constexpr int kRunFailed = 3;
    if (exit_code == 0 || exit_code == kRunFailed) return;
    log(LogLevel::warning, launcher_.command.front() + " ended with exit code " + std::to_string(exit_code) +
                               " after its record, which was taken");
  }

  /// Numbers of two pairs of hosts must not become one record.
  void meet_hosts(const records::RecordHeader& header) {
    if (!header.initiator || !header.responder) throw RunError("the record of the launch names no hosts");
    const auto now = name_of(*header.responder);
    const auto& before = result_.responder ? result_.responder : hosts_before_;
    if (before && name_of(*before) != now) {
      const auto was = "was measured with " + name_of(*before) + ", the second rank is now on " + now;
      if (!result_.responder) throw ConfigError("--resume: this run " + was + ": launch on the same hosts");
      throw RunError("the run " + was + ": let --launcher name the hosts");
    }
    if (result_.responder) return;
    result_.initiator = *header.initiator;
    result_.responder = *header.responder;
    context_.sink.on_responder(*result_.responder);
  }

  void take_sessions(records::ResultSet& record, PathMtu path_mtu) {
    for (auto& session : record.sessions) {
      session.proof.setting = setting(launcher_.knob, path_mtu);
      ledger_.add_session(std::move(session));
    }
  }

  /// Adds what a launch measured, in the order in which it did.
  void take_trials(const std::vector<std::size_t>& points, records::ResultSet& record, std::uint32_t first_round) {
    std::vector<std::pair<std::size_t, Trial>> taken;
    for (const auto i : points) {
      auto& outcome = outcome_of(ledger_.points()[i], record);
      if (auto* skipped = std::get_if<Skipped>(&outcome)) ledger_.skip(i, std::move(skipped->reason));
      if (auto* failed = std::get_if<Failed>(&outcome)) ledger_.fail(i, std::move(failed->reason));
      auto* measured = std::get_if<Measured>(&outcome);
      if (measured == nullptr) continue;
      ledger_.add_warmup(i, measured->warmup_messages);
      // A record has one histogram per point, merged over its trials: the first of them carries it.
      if (!measured->trials.empty()) measured->trials.front().latency = measured->latency;
      for (auto& trial : measured->trials) taken.emplace_back(i, std::move(trial));
    }
    std::sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return a.second.order < b.second.order; });
    for (auto& [i, trial] : taken) {
      trial.round += first_round;
      if (!ledger_.is_settled(i, trial.round)) ledger_.add_trial(i, std::move(trial));
    }
  }

  [[nodiscard]] static Outcome& outcome_of(const Point& point, records::ResultSet& record) {
    const auto found = std::find_if(record.points.begin(), record.points.end(),
                                    [&](const records::PointResult& one) { return same_point(one.point, point); });
    if (found == record.points.end()) throw RunError("the record of the launch lacks " + describe(point));
    return found->outcome;
  }

  [[nodiscard]] bool ending() const { return context_.stop || ledger_.out_of_time(); }

  const sweep::SweepSpec& spec_;
  sweep::RunContext& context_;
  const Launcher& launcher_;
  const std::optional<Environment> hosts_before_;  ///< the second rank of the run that this one resumes
  sweep::Ledger ledger_;
  std::uint32_t launched_ = 0;
  std::map<PathMtu, std::string> failures_;  ///< no more launches of these
  sweep::RunResult result_;
};

}  // namespace

std::unique_ptr<Backend> make_launched_mpi() { return std::make_unique<LaunchedMpi>(); }

sweep::RunResult run_launched(const sweep::SweepSpec& spec, sweep::RunContext context, const Launcher& launcher) {
  sweep::check(spec);
  for (const auto& session : context.resume.sessions) {
    const auto asked = setting(launcher.knob, session.proof.asked);
    if (session.proof.setting == asked) continue;
    const auto quoted = [](const std::string& text) { return text.empty() ? "no setting" : text; };
    throw ConfigError("--resume: this run was launched with " + quoted(session.proof.setting) + ", not with " +
                      quoted(asked) + ": give the same --mtu-knob or --mtu-env");
  }
  return LaunchRunner{spec, context, launcher}.run();
}

}  // namespace mtuscope::launch
