#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "program.hpp"
#include "rank_arguments.hpp"
#include "ranks.hpp"

namespace {

using namespace mtuscope;
using namespace mtuscope::cli;

/// This rank's command line, and the environment it asks for, before MPI starts. Nothing when it cannot be had and
/// another rank says why.
std::optional<std::vector<std::string>> prepare(const std::vector<std::string>& written) {
  const auto name = rank_name();
  try {
    auto expanded = expand(written, name);
    set_environment(expanded);
    return expanded;
  } catch (const ConfigError& /*error*/) {
    if (name.rank.value_or(0) == 0 || has_own_options(written)) throw;
    return std::nullopt;
  }
}

ExitCode run(const MpiWorld& world, const std::vector<std::string>& expanded, const std::vector<std::string>& written) {
  std::vector<const char*> words(expanded.size());
  std::transform(expanded.begin(), expanded.end(), words.begin(), [](const auto& word) { return word.c_str(); });
  const auto parsed = parse_command_line(static_cast<int>(words.size()), words.data(), Program::mtuscope_mpi);
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
  return check_printed(run_rank(world, std::get<SweepOptions>(request.command), {console, stop_flag(), written}));
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
    const std::vector<std::string> written{argv, std::next(argv, argc)};
    const auto expanded = prepare(written);
    if (!expanded) return ExitCode::usage;
    const MpiWorld world{argc, argv};
    const auto body = [&] { return run(world, *expanded, written); };
    const bool speaks = world.rank() == 0 || has_own_options(written);
    const auto result = speaks ? run_guarded(body) : run_quietly(body);
    world.finish(result);
    return result;
  });
  set_log_sink({});
  return static_cast<int>(code);
}
