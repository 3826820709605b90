#pragma once
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mtuscope/core/clock.hpp"

namespace mtuscope::mpi {

/// A wait that polls MPI: it gives way at first, then it naps, longer and longer, so that a wait leaves the CPU to the
/// ranks that measure.
class Pause {
 public:
  void rest() noexcept;

 private:
  std::uint32_t looks_ = 0;
  std::int64_t nap_ns_ = 20'000;
};

/// "MPI_Isend: MPI_ERR_TRUNCATE: message truncated", for a return code of MPI.
[[nodiscard]] std::string error_text(const char* call, int code);
/// Throws RunError unless `code` is MPI_SUCCESS.
void check(const char* call, int code);
/// Polls `request` until it is complete; false at the deadline, when it is still active. Throws RunError.
[[nodiscard]] bool wait_until(MPI_Request& request, Deadline deadline);

/// A message and what MPI knows it by.
struct Transfer {
  std::vector<std::byte> bytes{};
  MPI_Request request = MPI_REQUEST_NULL;
};
/// Of a message that never ends: MPI may still read or write it until the process ends.
void keep_for_ever(Transfer transfer);

/// A communicator of our own, whose errors are returned and not fatal. The MPI library must outlive it.
class Communicator {
 public:
  /// Duplicates `parent`: every rank of it must do so. Throws RunError when they do not until the deadline.
  Communicator(MPI_Comm parent, Deadline deadline);
  /// Of two ranks of `parent`, who are 0 and 1 in it: both must make it, and the call blocks until they do. Throws
  /// RunError.
  Communicator(MPI_Comm parent, const std::array<int, 2>& ranks);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();
  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace mtuscope::mpi
