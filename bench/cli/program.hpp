#pragma once
#include <atomic>
#include <functional>

#include "commands.hpp"

namespace mtuscope::cli {

/// Set by the first SIGINT or SIGTERM, once `handle_signals` was called.
[[nodiscard]] const std::atomic<bool>& stop_flag() noexcept;
/// The first signal asks the run to finish what it has and write it; the second one ends the process at once. A reader
/// of our output that goes away becomes a failed write.
void handle_signals();
/// Where the request lets words go: --quiet, --no-color, NO_COLOR, `--out -`.
[[nodiscard]] Console::Settings console_settings(const Request& request);
/// A code that also says whether all that was printed has left us; complains if not.
[[nodiscard]] ExitCode check_printed(ExitCode code);
/// Runs the program's body; what it throws becomes one line and an exit code.
[[nodiscard]] ExitCode run_guarded(const std::function<ExitCode()>& body);

}  // namespace mtuscope::cli
