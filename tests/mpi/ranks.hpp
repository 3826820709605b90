#pragma once
#include <mpi.h>

#include <cstdint>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/transport/exchange.hpp"

namespace mtuscope::mpi {

// Both ranks run every test in step; what only one of them sees is asserted there alone.

inline int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}
inline int peer_rank() { return 1 - rank(); }
inline Role role() { return rank() == 0 ? Role::initiator : Role::responder; }

/// Long enough for a busy machine; no test waits for it unless it fails.
inline Deadline patient() { return Deadline::after_ns(30'000'000'000U); }

/// While set, the messages this rank sends over MPI are corrupted (main.cpp stands between us and the library).
inline bool corrupt_sends = false;

}  // namespace mtuscope::mpi
