#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/backend.hpp"
#include "options.hpp"

namespace mtuscope::cli {

/// What the program says to its caller; docs/cli.md has the table.
enum class ExitCode : int {
  ok = 0,
  requirement_failed = 1,  ///< --require, or a gate
  usage = 2,               ///< options, or input that cannot be read
  run_failed = 3,          ///< wholly or in part, or the MTU proof contradicts
  undecided = 4            ///< too few trials, or nothing comparable
};

/// What every command may use.
struct CommandContext {
  const Console& console;
  const std::atomic<bool>& stop;  ///< set by the first SIGINT or SIGTERM
  std::vector<std::string> command_line;
};

/// The two ends of a sweep, however they were found.
struct SweepEnds {
  Backend& backend;
  Exchange* exchange = nullptr;  ///< null for a back end without a peer
  std::optional<int> cpu;        ///< the CPU the measuring thread was pinned to
  /// Measures the plan.
  std::function<sweep::RunResult(const sweep::SweepSpec&, sweep::RunContext)> run = sweep::run_sweep;
};
/// Before anything is measured: throws ConfigError unless the record can be written and replaces none unasked.
void check_output(const SweepOptions& options);
/// Measures the plan, and shows and writes what came of it. Throws ConfigError (exit 2) and RunError (exit 3).
[[nodiscard]] ExitCode measure(const SweepOptions& options, const sweep::SweepSpec& spec, const SweepEnds& ends,
                               const CommandContext& context);

// Each runs one subcommand. All throw ConfigError (exit 2) and RunError (exit 3).
[[nodiscard]] ExitCode run_devices(const DevicesOptions& options, const CommandContext& context);
[[nodiscard]] ExitCode run_serve(const ServeOptions& options, const CommandContext& context);
[[nodiscard]] ExitCode run_sweep_command(const SweepOptions& options, const CommandContext& context);
[[nodiscard]] ExitCode run_mpi(const MpiOptions& options, const CommandContext& context);
[[nodiscard]] ExitCode run_validate(const ValidateOptions& options, const CommandContext& context);
[[nodiscard]] ExitCode run_tables(const TablesOptions& options, const CommandContext& context);
[[nodiscard]] ExitCode run_compare(const CompareOptions& options, const CommandContext& context);
[[nodiscard]] ExitCode run_blocks(const BlocksOptions& options, const CommandContext& context);

}  // namespace mtuscope::cli
