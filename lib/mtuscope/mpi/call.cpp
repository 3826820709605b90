#include "mtuscope/mpi/call.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <deque>
#include <memory>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"

namespace mtuscope::mpi {

void Pause::rest() noexcept {
  // An answer that is on its way comes meanwhile. Soon after, this rank must take no more time from one that measures
  // on the same CPU: yielding is not enough, as the kernel's threads that move packets get turns like any other.
  constexpr std::uint32_t kLooksBeforeNaps = 20;
  constexpr std::int64_t kLongestNapNs = 1'000'000;
  if (looks_ < kLooksBeforeNaps) {
    ++looks_;
    sched_yield();
    return;
  }
  const timespec nap{0, nap_ns_};
  nanosleep(&nap, nullptr);
  nap_ns_ = std::min(2 * nap_ns_, kLongestNapNs);
}

std::string error_text(const char* call, int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  return std::string{call} + ": " +
         (length > 0 ? std::string{text.data(), static_cast<std::size_t>(length)} : "error " + std::to_string(code));
}

void check(const char* call, int code) {
  if (code != MPI_SUCCESS) throw RunError(error_text(call, code));
}

bool wait_until(MPI_Request& request, Deadline deadline) {
  Pause pause;
  while (true) {
    int done = 0;
    check("MPI_Test", MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done != 0) return true;
    if (deadline.passed()) return false;
    pause.rest();
  }
}

void keep_for_ever(Transfer transfer) {
  static std::deque<Transfer> kept;
  kept.push_back(std::move(transfer));
}

Communicator::Communicator(MPI_Comm parent, Deadline deadline) {
  struct Duplicate {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  auto duplicate = std::make_unique<Duplicate>();
  check("MPI_Comm_idup", MPI_Comm_idup(parent, &duplicate->comm, &duplicate->request));
  if (!wait_until(duplicate->request, deadline)) {
    (void)duplicate.release();  // MPI may write there until the process ends
    throw RunError("MPI_Comm_idup: another rank did not take part in time; did it refuse its options, or end?");
  }
  comm_ = duplicate->comm;
  check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

Communicator::Communicator(MPI_Comm parent, const std::array<int, 2>& ranks) {
  constexpr int kTag = 0;
  MPI_Group all = MPI_GROUP_NULL;
  check("MPI_Comm_group", MPI_Comm_group(parent, &all));
  MPI_Group two = MPI_GROUP_NULL;
  int code = MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &two);
  MPI_Group_free(&all);
  check("MPI_Group_incl", code);
  code = MPI_Comm_create_group(parent, two, kTag, &comm_);
  MPI_Group_free(&two);
  check("MPI_Comm_create_group", code);
  check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

Communicator::~Communicator() {
  const int code = MPI_Comm_free(&comm_);
  if (code != MPI_SUCCESS) log(LogLevel::warning, error_text("MPI_Comm_free", code));
}

}  // namespace mtuscope::mpi
