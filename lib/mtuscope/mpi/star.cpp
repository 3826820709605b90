#include "mtuscope/mpi/star.hpp"

#include <string>
#include <utility>

#include "mtuscope/core/error.hpp"

namespace mtuscope::mpi {
namespace {

constexpr int kLetterTag = 1;

}  // namespace

// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): it knows MPI_Wait in the same function only, and we wait by
// MPI_Test
void Star::send(int to, std::span<const std::byte> bytes, Deadline deadline) const {
  if (bytes.size() > kMaxLetterBytes) {
    throw RunError("what a pair measured takes " + std::to_string(bytes.size()) + " B, more than a letter to rank 0 " +
                   "may have: use fewer sizes or trials");
  }
  Transfer transfer{.bytes = {bytes.begin(), bytes.end()}};
  check("MPI_Isend", MPI_Isend(transfer.bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, kLetterTag,
                               comm_.get(), &transfer.request));
  if (wait_until(transfer.request, deadline)) return;
  keep_for_ever(std::move(transfer));
  throw RunError("rank " + std::to_string(to) + " took no letter in time");
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
  Transfer transfer{.bytes = std::vector<std::byte>(static_cast<std::size_t>(count))};
  check("MPI_Irecv", MPI_Irecv(transfer.bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, kLetterTag, comm_.get(),
                               &transfer.request));
  if (wait_until(transfer.request, deadline)) return Letter{status.MPI_SOURCE, std::move(transfer.bytes)};
  keep_for_ever(std::move(transfer));
  return std::nullopt;
}
// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

}  // namespace mtuscope::mpi
