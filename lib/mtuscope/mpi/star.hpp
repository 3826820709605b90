#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mtuscope/mpi/call.hpp"

namespace mtuscope::mpi {

/// Letters between rank 0, in the middle, and every other rank. No wait is a blocking MPI call.
class Star {
 public:
  struct Letter {
    int rank = 0;  ///< who sent it
    std::vector<std::byte> bytes;
  };
  /// The longest letter.
  static constexpr std::size_t kMaxLetterBytes = std::size_t{256} << 20U;

  /// Every rank of `parent` must make one before the deadline. Throws RunError.
  Star(MPI_Comm parent, Deadline deadline) : comm_(parent, deadline) {}

  /// Until rank `to` has taken it. Throws RunError: too long, or not taken until the deadline.
  void send(int to, std::span<const std::byte> bytes, Deadline deadline) const;
  /// The next letter of any rank; nothing at the deadline. Throws RunError.
  [[nodiscard]] std::optional<Letter> receive(Deadline deadline) const;

 private:
  Communicator comm_;
};

}  // namespace mtuscope::mpi
