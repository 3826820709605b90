# Finds MPI, of which we use the C interface only. Sets MTUSCOPE_HAS_MPI.
set(MTUSCOPE_HAS_MPI OFF)
if(MTUSCOPE_WITH_MPI)
  set(MPI_CXX_SKIP_MPICXX TRUE)
  find_package(MPI COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(MTUSCOPE_HAS_MPI ON)
  else()
    message(WARNING "No MPI found: mtuscope-mpi is not built. Install libopenmpi-dev (or put another library's mpicxx "
      "into PATH), or say -DMTUSCOPE_WITH_MPI=OFF.")
  endif()
endif()
