#pragma once
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mtuscope/core/latency_histogram.hpp"

namespace mtuscope::mpi {

inline constexpr int kDataTag = 2;
inline constexpr int kWindowTag = 3;
inline constexpr int kMeetTag = 4;

/// What every message of a trial has in common: one buffer per direction, used again and again.
struct Wire {
  MPI_Comm comm = MPI_COMM_NULL;
  int peer = 0;
  std::byte* send_area = nullptr;
  std::byte* receive_area = nullptr;
  int size_bytes = 0;
};

/// A stream's plan; the same on both ends.
struct StreamPlan {
  std::uint64_t messages = 0;        ///< per direction
  std::uint32_t window = 1;          ///< messages that one acknowledgement stands for; two windows may be under way
  std::uint64_t slice_messages = 0;  ///< a time stamp is kept after every so many acknowledged ones; 0: none
  bool sends = false;
  bool receives = false;
};

/// Requests and time stamps of a stream, made before the clock starts. Windows alternate between two halves.
class StreamRoom {
 public:
  /// Room for `plan`, with the receives of its first two windows and the acknowledgements of them posted: the peer must
  /// never be the first. MPI's return code.
  [[nodiscard]] int prepare(const Wire& wire, const StreamPlan& plan);
  /// Gives up whatever is still under way, after a failure. False: MPI may still use the buffers, which must be kept.
  [[nodiscard]] bool cancel() noexcept;

  std::array<std::vector<MPI_Request>, 2> sends;
  std::array<std::vector<MPI_Request>, 2> receives;
  std::array<MPI_Request, 2> acknowledgements{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::vector<std::uint64_t> slice_ends_ns;
};

/// What one end saw.
struct KernelReading {
  int code = MPI_SUCCESS;  ///< of the call that failed
  std::uint64_t sent = 0;  ///< acknowledged by the peer; round trips for a ping-pong
  std::uint64_t received = 0;
  std::uint64_t begin_ns = 0;  ///< before the first call
  std::uint64_t end_ns = 0;    ///< after the last
  std::size_t slices = 0;      ///< entries used in slice_ends_ns
};

/// Lets both ends begin within a message's flight of each other: the exchange's barrier polls with pauses, which short
/// trials would feel. MPI's return code.
[[nodiscard]] int meet(const Wire& wire) noexcept;

/// One end of a stream, or both directions at once. A receiver acknowledges a window as soon as all of it has arrived
/// and the receives of the window after the next are posted; a sender begins window k + 2 once window k is
/// acknowledged, so that an acknowledgement travels while the next window does, and messages find their receive posted.
/// The clock stops at the last acknowledgement. `progress` is stored once per window.
[[nodiscard]] KernelReading run_stream(const Wire& wire, const StreamPlan& plan, StreamRoom& room,
                                       std::atomic<std::uint64_t>& progress) noexcept;

/// Plain MPI_Send and MPI_Recv. The clock is read once per round trip, right after the send, while the message is on
/// its way: the reading costs the latency nothing. A sample is half of what lies between two such readings; the last
/// one is what remains of the span.
[[nodiscard]] KernelReading run_pinger(const Wire& wire, std::uint64_t round_trips, LatencyHistogram& histogram,
                                       std::atomic<std::uint64_t>& progress) noexcept;
/// Answers every message with one.
[[nodiscard]] KernelReading run_ponger(const Wire& wire, std::uint64_t round_trips,
                                       std::atomic<std::uint64_t>& progress) noexcept;

}  // namespace mtuscope::mpi
