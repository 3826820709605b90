#include "program.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <variant>

#include "mtuscope/core/error.hpp"

namespace mtuscope::cli {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void on_signal(int /*number*/) {
  if (stop_requested.exchange(true)) _exit(static_cast<int>(ExitCode::run_failed));
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

}  // namespace

const std::atomic<bool>& stop_flag() noexcept { return stop_requested; }

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that goes away and a file at its size limit are failed writes, which say which.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

Console::Settings console_settings(const Request& request) {
  return {request.quiet, color_wanted(request), output_is_record(request)};
}

ExitCode check_printed(ExitCode code) {
  if (std::ferror(stdout) == 0) return code;
  Console::complain("writing to standard output failed: what was to be printed is not complete");
  return code == ExitCode::ok ? ExitCode::run_failed : code;
}

ExitCode run_guarded(const std::function<ExitCode()>& body) {
  try {
    return body();
  } catch (const ConfigError& error) {
    Console::complain(error.what());
    return ExitCode::usage;
  } catch (const std::bad_alloc&) {
    Console::complain("out of memory: use smaller --size, --qp or --rx-depth");
  } catch (const std::exception& error) {
    Console::complain(error.what());
  } catch (...) {
    Console::complain("unknown failure: please report it with the command line");
  }
  return ExitCode::run_failed;
}

}  // namespace mtuscope::cli
