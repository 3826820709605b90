#include <iterator>
#include <variant>

#include "commands.hpp"
#include "console.hpp"
#include "mtuscope/core/log.hpp"
#include "options.hpp"
#include "program.hpp"

namespace {

using namespace mtuscope;
using namespace mtuscope::cli;

ExitCode run_command(const Request& request, const CommandContext& context) {
  struct Dispatch {
    const CommandContext& context;
    ExitCode operator()(const DevicesOptions& options) const { return run_devices(options, context); }
    ExitCode operator()(const ServeOptions& options) const { return run_serve(options, context); }
    ExitCode operator()(const SweepOptions& options) const { return run_sweep_command(options, context); }
    ExitCode operator()(const MpiOptions& options) const { return run_mpi(options, context); }
    ExitCode operator()(const ValidateOptions& options) const { return run_validate(options, context); }
    ExitCode operator()(const TablesOptions& options) const { return run_tables(options, context); }
    ExitCode operator()(const CompareOptions& options) const { return run_compare(options, context); }
    ExitCode operator()(const BlocksOptions& options) const { return run_blocks(options, context); }
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
  const Console console{console_settings(request)};
  set_log_sink([quiet = request.quiet](LogLevel level, std::string_view message) {
    if (level == LogLevel::error || (level == LogLevel::warning && !quiet)) Console::complain(message);
  });
  handle_signals();
  return check_printed(run_command(request, {console, stop_flag(), {argv, std::next(argv, argc)}}));
}

}  // namespace

int main(int argc, char** argv) {
  const auto code = run_guarded([&] { return run(argc, argv); });
  set_log_sink({});
  return static_cast<int>(code);
}
