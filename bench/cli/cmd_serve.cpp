#include <fmt/format.h>

#include <exception>
#include <optional>

#include "backends.hpp"
#include "commands.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "placement.hpp"

namespace mtuscope::cli {

namespace {

/// Serves one client. The port is looked at anew each time: its MTU or address may have changed since the last one.
void serve_client(const ServeOptions& options, std::optional<int> cpu, Exchange& exchange,
                  const CommandContext& context) {
  const auto peer = exchange.peer_name();
  context.console.say(fmt::format("{}: connected\n", peer));
  bool finished = false;
  try {
    const auto backend = make_backend("verbs", options.device);
    finished = sweep::respond(*backend, exchange, describe_end(*backend, cpu), context.stop);
  } catch (const std::exception& error) {  // the device has gone, say; it may come back for the next client
    log(LogLevel::warning, error.what());
    send_error(exchange, error.what(), FrameKind::gone);
  }
  context.console.say(fmt::format("{}: {}\n", peer, finished ? "done" : "ended early"));
}

}  // namespace

ExitCode run_serve(const ServeOptions& options, const CommandContext& context) {
  const auto cpu = place_thread(options.placement);
  // Before the device, so that a taken port is told whatever devices there are.
  const auto listener = listen_tcp(options.bind_address, options.port);
  (void)make_backend("verbs", options.device);  // without a usable device there is nothing to wait for
  Console::answer(fmt::format("serving on {} port {}\n", listener->address(), listener->port()));
  while (auto exchange = listener->accept(context.stop)) serve_client(options, cpu, *exchange, context);
  return ExitCode::ok;
}

}  // namespace mtuscope::cli
