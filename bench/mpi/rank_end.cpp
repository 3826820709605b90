#include "rank_end.hpp"

#include <unistd.h>

#include <cstdlib>

#include "backends.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/version.hpp"
#include "mtuscope/mpi/backend.hpp"

namespace mtuscope::cli {

void end_job(const std::string& reason) {
  constexpr unsigned kPatienceS = 5;
  Console::complain(reason);
  alarm(kPatienceS);  // should MPI_Abort hang too, SIGALRM ends this rank, and the launcher the others
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(ExitCode::run_failed));
  std::_Exit(static_cast<int>(ExitCode::run_failed));
}

std::unique_ptr<Backend> make_rank_backend(const SweepOptions& options, const DeviceOptions& device,
                                           const RankPeer& peer) {
  if (options.backend == "verbs") return make_backend(options.backend, device);
  if (options.backend != "mpi") {
    throw ConfigError{"--backend: mtuscope-mpi has mpi and verbs, not \"" + options.backend +
                      "\": run others with mtuscope"};
  }
  if (!device.device.empty() || device.port || device.gid_index) {
    throw ConfigError{"--ib-dev, --ib-port and --gid-index: MPI chooses its device itself, by settings of its own"};
  }
  return mpi::make_mpi(peer.comm, peer.peer, end_job);
}

std::string build_name() { return std::string{kVersion} + " (" + kGitRevision + ")"; }

}  // namespace mtuscope::cli
