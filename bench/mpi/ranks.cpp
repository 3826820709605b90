#include "ranks.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "backends.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/version.hpp"
#include "mtuscope/mpi/backend.hpp"
#include "mtuscope/mpi/call.hpp"
#include "mtuscope/mpi/exchange.hpp"
#include "mtuscope/mpi/watchdog.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "sweep_plan.hpp"

namespace mtuscope::cli {
namespace {

/// Ends every rank: a blocking MPI call has no deadline, and nothing else ends it.
void end_job(const std::string& reason) {
  constexpr unsigned kPatienceS = 5;
  Console::complain(reason);
  alarm(kPatienceS);  // should MPI_Abort hang too, SIGALRM ends this rank, and the launcher the others
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(ExitCode::run_failed));
  std::_Exit(static_cast<int>(ExitCode::run_failed));
}

void check_rank_count(int size) {
  if (size == 2) return;
  const auto count = std::to_string(size) + (size == 1 ? " rank" : " ranks");
  if (size < 2) throw ConfigError{"sweep: " + count + " only: start it as mpirun -np 2 mtuscope-mpi sweep ..."};
  throw ConfigError{"sweep: " + count +
                    ": a sweep has two ranks; --pairs, which would measure more, is not available in this version"};
}

std::unique_ptr<Backend> make_rank_backend(const SweepOptions& options, int rank) {
  const auto device = end_device(options, rank == 0 ? Role::initiator : Role::responder);
  if (options.backend == "verbs") return make_backend(options.backend, device);
  if (options.backend != "mpi") {
    throw ConfigError{"--backend: mtuscope-mpi has mpi and verbs, not \"" + options.backend +
                      "\": run others with mtuscope"};
  }
  if (!device.device.empty() || device.port || device.gid_index) {
    throw ConfigError{"--ib-dev, --ib-port and --gid-index: MPI chooses its device itself, by settings of its own"};
  }
  return mpi::make_mpi(MPI_COMM_WORLD, 1 - rank, end_job);
}

/// Both ranks must be of one build: the plan travels as hash and version only, and their numbers become one record.
void check_same_build(Exchange& exchange, Deadline deadline) {
  const auto mine = std::string{kVersion} + " (" + kGitRevision + ")";
  const auto answer = swap(exchange, std::as_bytes(std::span{mine}), deadline);
  const std::string theirs{reinterpret_cast<const char*>(answer.data()), answer.size()};
  if (mine == theirs) return;
  throw ConfigError{"this rank runs mtuscope-mpi " + mine + ", " + exchange.peer_name() + " " + theirs +
                    ": install the same build on both hosts"};
}

ExitCode measure_as_initiator(const SweepOptions& options, Exchange& exchange, const CommandContext& context) {
  check_output(options);
  const auto backend = make_rank_backend(options, 0);
  return measure(options, complete_plan(options, *backend), {*backend, &exchange, std::nullopt}, context);
}

ExitCode answer_as_responder(const SweepOptions& options, Exchange& exchange) {
  // Never set: the initiator's goodbye, or its end, ends this rank, so that a stop is seen by one rank only.
  const std::atomic<bool> stop{false};
  const auto backend = make_rank_backend(options, 1);
  (void)sweep::respond(*backend, exchange, describe_end(*backend, std::nullopt), stop);
  return ExitCode::ok;  // how the run ended is rank 0's to say: a launcher passes on whichever code comes first
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
  check_rank_count(world.size());
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

}  // namespace mtuscope::cli
