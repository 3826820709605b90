#include <exception>
#include <functional>
#include <iterator>
#include <variant>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "program.hpp"
#include "ranks.hpp"

namespace {

using namespace mtuscope;
using namespace mtuscope::cli;

ExitCode run(const MpiWorld& world, int argc, char** argv) {
  const auto parsed = parse_command_line(argc, argv, Program::mtuscope_mpi);
  const bool speaks = world.rank() == 0;
  if (const auto* help = std::get_if<HelpText>(&parsed)) {
    if (speaks) Console::answer(help->text);
    return ExitCode::ok;
  }
  const auto& request = std::get<Request>(parsed);
  const Console console{console_settings(request)};
  set_log_sink([speaks, quiet = request.quiet](LogLevel level, std::string_view message) {
    if (speaks && (level == LogLevel::error || (level == LogLevel::warning && !quiet))) Console::complain(message);
  });
  handle_signals();
  return check_printed(
      run_rank(world, std::get<SweepOptions>(request.command), {console, stop_flag(), {argv, std::next(argv, argc)}}));
}

/// What ends rank 1 is told by rank 0, which hears of it.
ExitCode run_quietly(const std::function<ExitCode()>& body) {
  try {
    return body();
  } catch (const ConfigError& /*error*/) {
    return ExitCode::usage;
  } catch (const std::exception& /*error*/) {
    return ExitCode::run_failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Console::name_program("mtuscope-mpi");
  const auto code = run_guarded([&] {
    const MpiWorld world{argc, argv};
    const auto body = [&] { return run(world, argc, argv); };
    const auto result = world.rank() == 0 ? run_guarded(body) : run_quietly(body);
    world.finish(result);
    return result;
  });
  set_log_sink({});
  return static_cast<int>(code);
}
