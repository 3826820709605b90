#pragma once
#include <mpi.h>

#include <memory>

#include "mtuscope/transport/exchange.hpp"

namespace mtuscope::mpi {

/// An exchange with rank `peer` of `parent`, over a communicator of its own: every rank of `parent` must make one
/// before the deadline. No wait is a blocking MPI call. MPI does not tell that a rank has gone, so `peer_alive` knows
/// only of failed calls; launchers end the other ranks of a job themselves. Throws RunError.
[[nodiscard]] std::unique_ptr<Exchange> make_exchange(MPI_Comm parent, int peer, Deadline deadline);

}  // namespace mtuscope::mpi
