#include "mtuscope/mpi/star.hpp"

#include <memory>
#include <string>
#include <utility>

#include "mtuscope/core/error.hpp"

namespace mtuscope::mpi {
namespace {

constexpr int kLetterTag = 1;

/// A letter and what MPI knows it by.
struct Transfer {
  std::vector<std::byte> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): it knows MPI_Wait in the same function only, and we wait by
// MPI_Test
/// Waits for the end of `transfer`; false at the deadline, and then MPI keeps its memory until the process ends.
bool finish(std::unique_ptr<Transfer>& transfer, Deadline deadline) {
  if (wait_until(transfer->request, deadline)) return true;
  (void)transfer.release();
  return false;
}

}  // namespace

void Star::send(int to, std::span<const std::byte> bytes, Deadline deadline) const {
  if (bytes.size() > kMaxLetterBytes) {
    throw RunError("what a pair measured takes " + std::to_string(bytes.size()) + " B, more than a letter to rank 0 " +
                   "may have: use fewer sizes or trials");
  }
  auto transfer = std::make_unique<Transfer>();
  transfer->bytes.assign(bytes.begin(), bytes.end());
  check("MPI_Isend", MPI_Isend(transfer->bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, kLetterTag,
                               comm_.get(), &transfer->request));
  if (!finish(transfer, deadline)) throw RunError("rank " + std::to_string(to) + " took no letter in time");
}

std::optional<Star::Letter> Star::receive(Deadline deadline) const {
  MPI_Status status{};
  Pause pause;
  for (int found = 0; true; pause.rest()) {
    check("MPI_Iprobe", MPI_Iprobe(MPI_ANY_SOURCE, kLetterTag, comm_.get(), &found, &status));
    if (found != 0) break;
    if (deadline.passed()) return std::nullopt;
  }
  int count = 0;
  check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &count));
  if (count < 0 || static_cast<std::size_t>(count) > kMaxLetterBytes) {
    throw RunError("rank " + std::to_string(status.MPI_SOURCE) + " sent a letter that is too long");
  }
  auto transfer = std::make_unique<Transfer>();
  transfer->bytes.resize(static_cast<std::size_t>(count));
  check("MPI_Irecv", MPI_Irecv(transfer->bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, kLetterTag, comm_.get(),
                               &transfer->request));
  if (!finish(transfer, deadline)) return std::nullopt;
  return Letter{status.MPI_SOURCE, std::move(transfer->bytes)};
}
// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

}  // namespace mtuscope::mpi
