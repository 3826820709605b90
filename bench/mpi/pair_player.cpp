#include "pair_player.hpp"

#include <mpi.h>

#include <array>
#include <exception>
#include <utility>

#include "backends.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/mpi/call.hpp"
#include "mtuscope/mpi/exchange.hpp"
#include "mtuscope/mpi/watchdog.hpp"
#include "mtuscope/records/pair_journal.hpp"
#include "mtuscope/sweep/planner.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "rank_end.hpp"

namespace mtuscope::cli {
namespace {

/// A pair's trials go to rank 0 when it has finished.
class SilentSink final : public sweep::Sink {
 public:
  void on_responder(const Environment& /*responder*/) override {}
  void on_session(const sweep::SessionRecord& /*session*/) override {}
  void on_trial(std::size_t /*point_index*/, const Trial& /*trial*/) override {}
  void on_outcome(std::size_t /*point_index*/, const Outcome& /*outcome*/) override {}
  void on_progress(const sweep::Progress& /*progress*/) override {}
};

/// Only the two ranks take part, and the call blocks, so that a watchdog ends it.
std::unique_ptr<mpi::Communicator> make_communicator(const sweep::RankPair& pair, std::uint64_t timeout_ns) {
  const std::atomic<bool> never{false};
  const ExchangeWatch watch{nullptr, 0, never};
  mpi::Watchdog watchdog{timeout_ns, end_job};
  const auto names = "ranks " + std::to_string(pair.initiator) + " and " + std::to_string(pair.responder);
  const mpi::Watchdog::Duty duty{watchdog, "the meeting of " + names, watch};
  return std::make_unique<mpi::Communicator>(
      MPI_COMM_WORLD, std::array{static_cast<int>(pair.initiator), static_cast<int>(pair.responder)});
}

records::PairResult failed_pair(const PairOrder& order, const sweep::SweepSpec& spec, const std::string& reason) {
  records::PairResult failed{.round = order.round, .ranks = order.pair};
  for (auto& point : sweep::plan_points(spec)) failed.points.push_back({std::move(point), Failed{reason, {}}});
  return failed;
}

}  // namespace

PairPlayer::PairPlayer(const SweepOptions& options, std::uint32_t rank, const std::atomic<bool>& stop)
    : options_(options), rank_(rank), stop_(stop) {}

RankHello PairPlayer::hello() {
  RankHello hello{.build = build_name()};
  try {
    environment_ = describe_end(*make_rank_backend(options_, options_.device, {}), std::nullopt);
  } catch (const std::exception& error) {
    hello.problem = error.what();
    environment_.host = read_host_info();
  }
  hello.environment = environment_;
  return hello;
}

PairReport PairPlayer::initiate(const PairOrder& order, Backend& backend, Exchange& exchange) {
  SilentSink sink;
  PairReport report{.kind = PairReport::Kind::measured, .pair = order.pair};
  try {
    auto result = sweep::run_sweep(spec_, {.backend = backend,
                                           .exchange = &exchange,
                                           .sink = sink,
                                           .stop = stop_,
                                           .resume = {},
                                           .environment = environment_});
    if (result.lost_reason) return {PairReport::Kind::lost, order.pair, 0, *result.lost_reason};
    if (result.interrupted) return {PairReport::Kind::interrupted, order.pair, 0, {}};
    report.text = records::pair_journal_line({.round = order.round,
                                              .ranks = order.pair,
                                              .sessions = std::move(result.sessions),
                                              .points = records::take_results(result)});
  } catch (const PeerError& error) {
    return {PairReport::Kind::lost, order.pair, 0, error.what()};
  } catch (const std::exception& error) {  // this pair cannot be measured, others may
    send_error(exchange, error.what(), FrameKind::gone);
    report.text = records::pair_journal_line(failed_pair(order, spec_, error.what()));
  }
  return report;
}

std::optional<PairReport> PairPlayer::play(const PairOrder& order) {
  const auto begin_ns = MonotonicClock{}.now_ns();
  std::optional<PairReport> report;
  try {
    const bool initiates = order.pair.initiator == rank_;
    const auto comm = make_communicator(order.pair, 2 * spec_.timeout_ns);
    const RankPeer peer{comm->get(), initiates ? 1 : 0};
    const auto exchange = mpi::make_exchange(peer.comm, peer.peer, Deadline::after_ns(spec_.timeout_ns));
    const auto backend = make_rank_backend(options_, options_.device, peer);
    if (initiates) {
      report = initiate(order, *backend, *exchange);
    } else {
      // Never set: the initiator's goodbye, or its end, ends this rank's part.
      const std::atomic<bool> never{false};
      if (!sweep::respond(*backend, *exchange, environment_, never)) {
        report = {PairReport::Kind::lost, order.pair, 0, "the initiator did not say goodbye"};
      }
    }
  } catch (const std::exception& error) {
    report = {PairReport::Kind::lost, order.pair, 0, error.what()};
  }
  if (report) report->elapsed_ns = MonotonicClock{}.now_ns() - begin_ns;
  return report;
}

void obey(const mpi::Star& star, PairPlayer& player, std::uint64_t round_timeout_ns, std::uint64_t timeout_ns) {
  star.send(0, encode(player.hello()), Deadline::after_ns(timeout_ns));
  while (true) {
    // A round's deadline is rank 0's to keep; it then says the end.
    const auto letter = star.receive(Deadline::after_ns(round_timeout_ns + 2 * timeout_ns));
    if (!letter) throw RunError("rank 0 gave no order in time: is it gone?");
    const auto order = decode_order(letter->bytes);
    if (order.kind == PairOrder::Kind::end) return;
    if (order.kind == PairOrder::Kind::plan) {
      player.take_plan(*records::read_pair_journal_header(order.plan, "the plan").spec);
      continue;
    }
    if (const auto report = player.play(order)) star.send(0, encode(*report), Deadline::after_ns(round_timeout_ns));
  }
}

}  // namespace mtuscope::cli
