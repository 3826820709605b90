#include "ranks.hpp"

#include <mpi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "backends.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/mpi/call.hpp"
#include "mtuscope/mpi/exchange.hpp"
#include "mtuscope/mpi/star.hpp"
#include "mtuscope/mpi/watchdog.hpp"
#include "mtuscope/report/units.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "pair_conductor.hpp"
#include "pair_player.hpp"
#include "rank_end.hpp"
#include "sweep_plan.hpp"

namespace mtuscope::cli {
namespace {

void check_rank_count(int size, const SweepOptions& options) {
  if (size == 2 || (size > 2 && !options.pairs.empty())) return;
  const auto count = report::counted(static_cast<std::uint64_t>(size), "rank");
  if (size < 2) throw ConfigError{"sweep: " + count + " only: start it as mpirun -np 2 mtuscope-mpi sweep ..."};
  throw ConfigError{"sweep: " + count +
                    ": a sweep has two ranks; --pairs all, ring, halves or list:FILE measures more"};
}

std::unique_ptr<Backend> make_end(const SweepOptions& options, int rank) {
  const auto device = end_device(options, rank == 0 ? Role::initiator : Role::responder);
  return make_rank_backend(options, device, {MPI_COMM_WORLD, 1 - rank});
}

void check_same_build(Exchange& exchange, Deadline deadline) {
  const auto mine = build_name();
  const auto answer = swap(exchange, std::as_bytes(std::span{mine}), deadline);
  const std::string theirs{reinterpret_cast<const char*>(answer.data()), answer.size()};
  if (mine == theirs) return;
  throw ConfigError{"this rank runs mtuscope-mpi " + mine + ", " + exchange.peer_name() + " " + theirs +
                    ": install the same build on both hosts"};
}

ExitCode measure_as_initiator(const SweepOptions& options, Exchange& exchange, const CommandContext& context) {
  check_output(options);
  const auto backend = make_end(options, 0);
  return measure(options, complete_plan(options, *backend), {*backend, &exchange, std::nullopt}, context);
}

ExitCode answer_as_responder(const SweepOptions& options, Exchange& exchange) {
  // Never set: the initiator's goodbye, or its end, ends this rank, so that a stop is seen by one rank only.
  const std::atomic<bool> stop{false};
  const auto backend = make_end(options, 1);
  (void)sweep::respond(*backend, exchange, describe_end(*backend, std::nullopt), stop);
  return ExitCode::ok;  // how the run ended is rank 0's to say: a launcher passes on whichever code comes first
}

ExitCode run_two(const MpiWorld& world, const SweepOptions& options, const CommandContext& context) {
  const auto deadline = Deadline::after_ns(options.spec.timeout_ns);
  const auto exchange = mpi::make_exchange(MPI_COMM_WORLD, 1 - world.rank(), deadline);
  try {
    check_same_build(*exchange, deadline);
    if (world.rank() == 0) return measure_as_initiator(options, *exchange, context);
    return answer_as_responder(options, *exchange);
  } catch (const std::exception& error) {
    send_error(*exchange, error.what(), FrameKind::gone);
    throw;
  }
}

ExitCode run_pairs(const MpiWorld& world, const SweepOptions& options, const CommandContext& context) {
  const auto rank = static_cast<std::uint32_t>(world.rank());
  const mpi::Star star{MPI_COMM_WORLD, Deadline::after_ns(options.spec.timeout_ns)};
  if (rank == 0) {
    PairConductor conductor{star, static_cast<std::uint32_t>(world.size()), options, context};
    const auto code = conductor.run();
    if (conductor.lost_a_rank()) end_job("the ranks that are left are ended");
    return code;
  }
  PairPlayer player{options, rank, context.stop};
  obey(star, player, options.round_timeout_ns, options.spec.timeout_ns);
  return ExitCode::ok;
}

}  // namespace

MpiWorld::MpiWorld(int& argc, char**& argv) {
  // No thread level is asked for: with Open MPI 4.1 MPI_THREAD_FUNNELED costs each message 40 of 170 ns, which other
  // benchmarks do not pay. The one other thread that calls MPI does so to end the job.
  mpi::check("MPI_Init", MPI_Init(&argc, &argv));
  mpi::check("MPI_Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
  mpi::check("MPI_Comm_size", MPI_Comm_size(MPI_COMM_WORLD, &size_));
}

void MpiWorld::finish(ExitCode code) const {
  constexpr std::uint64_t kPatienceNs = 10'000'000'000U;
  const std::atomic<bool> stop{false};
  const ExchangeWatch watch{nullptr, 0, stop};
  mpi::Watchdog watchdog{kPatienceNs, [code](const std::string& /*reason*/) { std::_Exit(static_cast<int>(code)); }};
  const mpi::Watchdog::Duty duty{watchdog, "MPI_Finalize", watch};
  MPI_Finalize();
}

ExitCode run_rank(const MpiWorld& world, const SweepOptions& options, const CommandContext& context) {
  check_rank_count(world.size(), options);
  return options.pairs.empty() ? run_two(world, options, context) : run_pairs(world, options, context);
}

}  // namespace mtuscope::cli
