#include <fmt/format.h>

#include "backends.hpp"
#include "commands.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "placement.hpp"

namespace mtuscope::cli {

ExitCode run_serve(const ServeOptions& options, const CommandContext& context) {
  const auto cpu = place_thread(options.placement);
  // Before the device, so that a taken port is told whatever devices there are.
  const auto listener = listen_tcp(options.bind_address, options.port);
  const auto backend = make_backend("verbs", options.device);
  const auto environment = describe_end(*backend, cpu);
  Console::answer(fmt::format("serving on {} port {}\n", listener->address(), listener->port()));
  while (auto exchange = listener->accept(context.stop)) {
    const auto peer = exchange->peer_name();
    context.console.say(fmt::format("{}: connected\n", peer));
    sweep::respond(*backend, *exchange, environment, context.stop);
    context.console.say(fmt::format("{}: done\n", peer));
  }
  return ExitCode::ok;
}

}  // namespace mtuscope::cli
