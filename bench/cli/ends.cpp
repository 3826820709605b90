#include "ends.hpp"

#include <string>
#include <tuple>
#include <utility>

#include "backends.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/transport/local_exchange.hpp"

namespace mtuscope::cli {

OtherEnd::OtherEnd(const SweepOptions& options, const Backend& backend) {
  const bool has_peer = !options.peer_host.empty();
  if (!backend.needs_peer()) {
    if (has_peer || options.loopback) {
      throw ConfigError{std::string{has_peer ? "--peer" : "--loopback"} + ": the back end " + options.backend +
                        " has no other end: leave it out"};
    }
    return;
  }
  if (options.loopback) {
    start_loopback(options);
  } else if (has_peer) {
    exchange_ = connect_tcp(options.peer_host, options.peer_port, Deadline::after_ns(options.spec.timeout_ns));
  } else {
    throw ConfigError{"sweep: the back end " + options.backend +
                      " needs --peer HOST[:PORT] (run `mtuscope serve` there) or --loopback"};
  }
}

void OtherEnd::start_loopback(const SweepOptions& options) {
  peer_backend_ = make_backend(options.backend, end_device(options, Role::responder));
  std::tie(exchange_, peer_exchange_) = make_local_exchange();
  peer_ = std::thread{[this, environment = describe_end(*peer_backend_, std::nullopt)] {
    sweep::respond(*peer_backend_, *peer_exchange_, environment, peer_stop_);
    peer_exchange_.reset();  // so that an initiator that still waits learns of the end
  }};
}

OtherEnd::~OtherEnd() {
  exchange_.reset();
  if (peer_.joinable()) peer_.join();
}

}  // namespace mtuscope::cli
