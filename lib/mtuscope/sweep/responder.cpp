#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/core/version.hpp"
#include "mtuscope/sweep/protocol.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/transport/two_ended.hpp"

namespace mtuscope::sweep {
namespace {

/// How long a client may take for its first words, and how long it may be silent between commands.
constexpr std::uint64_t kHelloPatienceNs = 10'000'000'000U;
constexpr std::uint64_t kIdlePatienceNs = 120'000'000'000U;
constexpr int kStopLookMs = 100;

class Responder {
 public:
  Responder(Backend& backend, Exchange& exchange, const Environment& environment, const std::atomic<bool>& stop)
      : backend_(backend), exchange_(exchange), environment_(environment), stop_(stop) {}

  void serve() {
    answer_hello(next_command(kHelloPatienceNs));
    while (true) {
      const auto payload = next_command(kIdlePatienceNs);
      WireReader reader{payload};
      switch (reader.get_enum(Command::bye)) {
        case Command::hello:
          throw PeerError("the peer said hello twice");
        case Command::open:
          open(reader);
          break;
        case Command::prove:
          prove(reader);
          break;
        case Command::trial:
          run_trial(reader);
          break;
        case Command::close:
          sessions_.clear();
          exchange_.send(FrameKind::finished, {}, soon());
          break;
        case Command::bye:
          return;
      }
    }
  }

 private:
  [[nodiscard]] Deadline soon() const { return Deadline::after_ns(2 * timeout_ns_); }

  [[nodiscard]] std::vector<std::byte> next_command(std::uint64_t patience_ns) {
    const auto deadline = Deadline::after_ns(patience_ns);
    bool readable = false;
    while (!readable) {
      if (stop_) throw RunError("the responder was stopped");  // also of a peer that is never silent
      readable = exchange_.readable_within(kStopLookMs);
      if (!readable && deadline.passed())
        throw PeerError("the peer " + exchange_.peer_name() + " has been silent for too long");
    }
    return receive_data(exchange_, Deadline::after_ns(kHelloPatienceNs));
  }

  void answer_hello(const std::vector<std::byte>& payload) {
    WireReader reader{payload};
    if (reader.get_enum(Command::bye) != Command::hello) throw PeerError("the peer did not say hello");
    const auto hello = decode_hello(reader);
    if (hello.backend != backend_.name()) {
      throw PeerError("the peer asks for back end " + hello.backend + ", this end serves " +
                      std::string{backend_.name()});
    }
    peer_ = hello.environment;
    const Hello mine{
        .mtuscope_version = kVersion, .backend = std::string{backend_.name()}, .environment = environment_};
    exchange_.send(FrameKind::data, encode(mine).bytes(), soon());
  }

  void open(WireReader& reader) {
    specs_ = decode_open(reader);
    timeout_ns_ = specs_.front().timeout_ns;
    sessions_.clear();
    const auto failed = run_step(
        exchange_, [&] { sessions_ = backend_.open(specs_, Role::responder, &exchange_); }, soon());
    if (failed) sessions_.clear();
  }

  void prove(WireReader& reader) {
    auto& session = *sessions_[decode_session(reader, sessions_.size())];
    reader.expect_end();
    ExchangeWatch watch{&exchange_, timeout_ns_, stop_};
    (void)run_step(
        exchange_, [&] { (void)session.prove_mtu(watch); }, soon());
  }

  void run_trial(WireReader& reader) {
    auto [session, request] = decode_trial(reader, sessions_.size());
    const auto& spec = specs_[session];
    if (request.point.connection != spec.connection || request.point.path_mtu != spec.path_mtu) {
      throw PeerError("the peer asked for a trial that its session is not made for");
    }
    state_options(request.point, spec);  // they do not travel again
    request.point.working_set = spec.working_set;
    if (spec.working_set && wire_size_bytes(request.point) > spec.working_set->block_size_bytes) {
      throw PeerError("the peer asked for messages that are larger than a block");
    }
    if (const auto reason = backend_.refusal(request.point, &*peer_)) {
      throw PeerError("the peer asked for what this end cannot do: " + *reason);
    }
    ExchangeWatch watch{&exchange_, timeout_ns_, stop_};
    (void)sessions_[session]->run(request, watch);
  }

  Backend& backend_;
  Exchange& exchange_;
  const Environment& environment_;
  const std::atomic<bool>& stop_;
  std::optional<Environment> peer_;
  std::vector<SessionSpec> specs_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::uint64_t timeout_ns_ = kHelloPatienceNs;
};

}  // namespace

bool respond(Backend& backend, Exchange& exchange, const Environment& environment, const std::atomic<bool>& stop) {
  try {
    Responder{backend, exchange, environment, stop}.serve();
    return true;
  } catch (const std::exception& error) {  // whatever one client causes must not end the server
    log(LogLevel::warning, exchange.peer_name() + ": " + error.what());
    send_error(exchange, error.what(), FrameKind::gone);
    return false;
  }
}

}  // namespace mtuscope::sweep
