#pragma once
#include <mpi.h>

#include <memory>
#include <string>

#include "mtuscope/transport/backend.hpp"
#include "options.hpp"

namespace mtuscope::cli {

/// Two ranks of a communicator that measure with each other, as one of them sees it.
struct RankPeer {
  MPI_Comm comm = MPI_COMM_WORLD;
  int peer = 1;  ///< the other one in `comm`
};

/// The back end of one rank. Throws ConfigError for one that needs no peer, and what make_backend throws.
[[nodiscard]] std::unique_ptr<Backend> make_rank_backend(const SweepOptions& options, const DeviceOptions& device,
                                                         const RankPeer& peer);

/// Ends every rank, as a blocking MPI call has no deadline, and nothing else ends it. Does not return.
void end_job(const std::string& reason);

/// What must be the same on both hosts: the plan travels as hash and version only, and their numbers become one record.
[[nodiscard]] std::string build_name();

}  // namespace mtuscope::cli
