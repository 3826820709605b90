#pragma once
#include <mpi.h>

#include <memory>

#include "mtuscope/mpi/watchdog.hpp"
#include "mtuscope/transport/backend.hpp"

namespace mtuscope::mpi {

/// Messages of MPI itself between this rank and rank `peer` of `parent`, of which every rank must open the same
/// arrangements. Streams are windows of `tx_depth` nonblocking sends against posted receives, ping-pongs blocking sends
/// and receives. `alarm` is what ends a job that is stuck in MPI; both must outlive the back end's sessions.
[[nodiscard]] std::unique_ptr<Backend> make_mpi(MPI_Comm parent, int peer, Alarm alarm);

}  // namespace mtuscope::mpi
