#include <filesystem>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/launch/process.hpp"
#include "mtuscope/launch/runner.hpp"
#include "sweep_plan.hpp"

namespace mtuscope::cli {
namespace {

namespace fs = std::filesystem;

/// mtuscope-mpi as it is installed or built beside this program, or as PATH finds it on the hosts.
std::string default_program() {
  std::error_code error;
  const auto mine = fs::read_symlink("/proc/self/exe", error);
  if (error) return "mtuscope-mpi";
  const auto folder = mine.parent_path();
  for (const auto& beside : {folder / "mtuscope-mpi", folder.parent_path() / "mpi" / "mtuscope-mpi"}) {
    if (fs::exists(beside, error)) return beside.string();
  }
  return "mtuscope-mpi";
}

/// What follows "--" is read as mtuscope-mpi reads it, so that a mistake is told before anything is launched.
SweepOptions read_rank_options(const MpiOptions& options) {
  std::vector<const char*> words{"mtuscope-mpi", "sweep"};
  words.reserve(words.size() + options.rank_options.size());
  for (const auto& word : options.rank_options) words.push_back(word.c_str());
  const auto parsed = parse_command_line(static_cast<int>(words.size()), words.data(), Program::mtuscope_mpi);
  if (!std::holds_alternative<Request>(parsed)) throw ConfigError{"after --: options of a sweep, not --help"};
  auto sweep = std::get<SweepOptions>(std::get<Request>(parsed).command);
  if (sweep.backend != "mpi") {
    throw ConfigError{"after --: --backend " + sweep.backend + ": its path MTU needs no launch of its own; use " +
                      options.launcher + " mtuscope-mpi sweep --backend " + sweep.backend};
  }
  if (sweep.path_mtus || !sweep.out.empty() || sweep.resume || sweep.overwrite) {
    throw ConfigError{"after --: --mtu, --out, --overwrite and --resume are mpi's own: write them before --"};
  }
  if (!sweep.pairs.empty()) {
    throw ConfigError{"after --: --pairs: start mtuscope-mpi with the launcher itself, once for each path MTU"};
  }
  return sweep;
}

launch::Launcher make_launcher(const MpiOptions& options) {
  return {.command = launch::split_command(options.launcher),
          .program = options.program.empty() ? default_program() : options.program,
          .options = options.rank_options,
          .knob = options.mtu_env ? launch::parse_knob(*options.mtu_env) : launch::find_knob(options.mtu_knob),
          .timeout_ns = options.launch_timeout_ns};
}

}  // namespace

ExitCode run_mpi(const MpiOptions& options, const CommandContext& context) {
  auto sweep = read_rank_options(options);
  sweep.launched = true;
  sweep.path_mtus = options.sweep.path_mtus;
  sweep.out = options.sweep.out;
  sweep.overwrite = options.sweep.overwrite;
  sweep.resume = options.sweep.resume;
  check_output(sweep);
  const auto launcher = make_launcher(options);
  const auto backend = launch::make_launched_mpi();
  const auto spec = complete_plan(sweep, *backend);
  const auto run = [&launcher](const sweep::SweepSpec& plan, sweep::RunContext run_context) {
    return launch::run_launched(plan, std::move(run_context), launcher);
  };
  return measure(sweep, spec, {*backend, nullptr, std::nullopt, run}, context);
}

}  // namespace mtuscope::cli
