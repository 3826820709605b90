// Started by mpirun as two ranks. Also a layer between mtuscope and the MPI library, by MPI's profiling interface: the
// library calls MPI_Isend, which this program defines.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <iostream>
#include <iterator>

#include "mtuscope/mpi/kernels.hpp"
#include "ranks.hpp"

namespace {

/// Flips a bit of the buffer for good: all messages of a trial share it.
void spoil(const void* buffer, int count, int tag) {
  if (!mtuscope::mpi::corrupt_sends || count == 0 || tag != mtuscope::mpi::kDataTag) return;
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(buffer));
  *std::next(bytes, count - 1) ^= std::byte{1};
  mtuscope::mpi::corrupt_sends = false;
}

}  // namespace

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  spoil(buffer, count, tag);
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

extern "C" int MPI_Send(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  spoil(buffer, count, tag);
  return PMPI_Send(buffer, count, type, peer, tag, comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    std::cerr << "mpi_tests is two ranks: mpirun -n 2 mpi_tests\n";
    return 1;
  }
  if (mtuscope::mpi::rank() != 0) {  // one report is enough, except of what went wrong here
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  const int mine = RUN_ALL_TESTS();
  int worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (mine != worst) std::cerr << "a test failed on the other rank\n";
  MPI_Finalize();
  return worst;
}
