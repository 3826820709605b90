#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <variant>

#include "commands.hpp"
#include "console.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "options.hpp"

namespace {

using namespace mtuscope;
using namespace mtuscope::cli;

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

/// The first signal asks the run to finish what it has and write it; the second one ends at once.
extern "C" void on_signal(int /*number*/) {
  if (stop_requested.exchange(true)) _exit(static_cast<int>(ExitCode::run_failed));
}

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a reader that goes away is a failed write, which says which
}

bool color_wanted(const Request& request) {
  // https://no-color.org: any value that is not empty. Read before any thread is started.
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  return !request.no_color && (no_color == nullptr || *no_color == '\0');
}

bool output_is_record(const Request& request) {
  const auto* sweep = std::get_if<SweepOptions>(&request.command);
  return sweep != nullptr && sweep->out == "-";
}

ExitCode run_command(const Request& request, const CommandContext& context) {
  struct Dispatch {
    const CommandContext& context;
    ExitCode operator()(const DevicesOptions& options) const { return run_devices(options, context); }
    ExitCode operator()(const ServeOptions& options) const { return run_serve(options, context); }
    ExitCode operator()(const SweepOptions& options) const { return run_sweep_command(options, context); }
    ExitCode operator()(const ValidateOptions& options) const { return run_validate(options, context); }
    ExitCode operator()(const TablesOptions& options) const { return run_tables(options, context); }
    ExitCode operator()(const CompareOptions& options) const { return run_compare(options, context); }
  };
  return std::visit(Dispatch{context}, request.command);
}

ExitCode run(int argc, char** argv) {
  const auto parsed = parse_command_line(argc, argv);
  if (const auto* help = std::get_if<HelpText>(&parsed)) {
    Console::answer(help->text);
    return ExitCode::ok;
  }
  const auto& request = std::get<Request>(parsed);
  const Console console{{request.quiet, color_wanted(request), output_is_record(request)}};
  set_log_sink([quiet = request.quiet](LogLevel level, std::string_view message) {
    if (level == LogLevel::error || (level == LogLevel::warning && !quiet)) Console::complain(message);
  });
  handle_signals();
  const auto code = run_command(request, {console, stop_requested, {argv, std::next(argv, argc)}});
  if (std::ferror(stdout) == 0) return code;
  Console::complain("writing to standard output failed: what was to be printed is not complete");
  return code == ExitCode::ok ? ExitCode::run_failed : code;
}

}  // namespace

int main(int argc, char** argv) {
  auto code = ExitCode::run_failed;
  try {
    code = run(argc, argv);
  } catch (const ConfigError& error) {
    Console::complain(error.what());
    code = ExitCode::usage;
  } catch (const std::bad_alloc&) {
    Console::complain("out of memory: use smaller --size, --qp or --rx-depth");
  } catch (const std::exception& error) {
    Console::complain(error.what());
  } catch (...) {
    Console::complain("unknown failure: please report it with the command line");
  }
  set_log_sink({});
  return static_cast<int>(code);
}
