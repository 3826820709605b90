#include "mtuscope/mpi/kernels.hpp"

#include <algorithm>
#include <span>

#include "mtuscope/core/clock.hpp"

namespace mtuscope::mpi {
namespace {

/// Posts the receives of one window into its half.
int post_receives(const Wire& wire, std::vector<MPI_Request>& half, std::uint64_t count) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) {
    const int code = MPI_Irecv(wire.receive_area, wire.size_bytes, MPI_BYTE, wire.peer, kDataTag, wire.comm, &half[i]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int post_acknowledgement(const Wire& wire, MPI_Request& request) noexcept {
  return MPI_Irecv(nullptr, 0, MPI_BYTE, wire.peer, kWindowTag, wire.comm, &request);
}

std::uint64_t window_count(const StreamPlan& plan) noexcept { return (plan.messages + plan.window - 1) / plan.window; }

/// Messages of window `k`; the last one may be shorter.
std::uint64_t messages_of(const StreamPlan& plan, std::uint64_t k) noexcept {
  return std::min<std::uint64_t>(plan.window, plan.messages - k * plan.window);
}

/// Directions are compile-time constants.
template <bool Sends, bool Receives>
class Stream {
 public:
  Stream(const Wire& wire, const StreamPlan& plan, StreamRoom& room, std::atomic<std::uint64_t>& progress) noexcept
      : wire_(wire), plan_(plan), room_(room), progress_(progress), windows_(window_count(plan)) {
    next_slice_ = plan_.slice_messages == 0 ? ~std::uint64_t{0} : plan_.slice_messages;
  }

  [[nodiscard]] KernelReading run() noexcept {
    reading_.begin_ns = clock_.now_ns();
    for (std::uint64_t k = 0; k < windows_; ++k) {
      if (Sends && !send_window(k)) return reading_;
      // With both directions the peer's window is looked after while our next one is under way.
      if (Receives && !Sends && !receive_window(k)) return reading_;
      if (Receives && Sends && k > 0 && !receive_window(k - 1)) return reading_;
    }
    if (Receives && Sends && !receive_window(windows_ - 1)) return reading_;
    if (Sends && windows_ > 1 && !finish_window(windows_ - 2)) return reading_;
    if (Sends && !finish_window(windows_ - 1)) return reading_;
    reading_.end_ns = clock_.now_ns();
    return reading_;
  }

 private:
  [[nodiscard]] bool send_window(std::uint64_t k) noexcept {
    if (k >= 2 && !finish_window(k - 2)) return false;
    auto* requests = room_.sends[k % 2].data();
    for (std::uint64_t i = 0, count = messages_of(plan_, k); i < count; ++i) {
      const int code =
          MPI_Isend(wire_.send_area, wire_.size_bytes, MPI_BYTE, wire_.peer, kDataTag, wire_.comm, &requests[i]);
      if (!good(code)) return false;
    }
    return true;
  }

  /// Waits until the peer has all of window `k`, and makes its half free for window k + 2.
  [[nodiscard]] bool finish_window(std::uint64_t k) noexcept {
    const auto count = messages_of(plan_, k);
    auto& acknowledgement = room_.acknowledgements[k % 2];
    if (!good(MPI_Waitall(static_cast<int>(count), room_.sends[k % 2].data(), MPI_STATUSES_IGNORE))) return false;
    if (!good(MPI_Wait(&acknowledgement, MPI_STATUS_IGNORE))) return false;
    if (k + 2 < windows_ && !good(post_acknowledgement(wire_, acknowledgement))) return false;
    reading_.sent += count;
    note_progress();
    mark_slices();
    return true;
  }

  [[nodiscard]] bool receive_window(std::uint64_t k) noexcept {
    auto& half = room_.receives[k % 2];
    const auto count = messages_of(plan_, k);
    if (!good(MPI_Waitall(static_cast<int>(count), half.data(), MPI_STATUSES_IGNORE))) return false;
    if (k + 2 < windows_ && !good(post_receives(wire_, half, messages_of(plan_, k + 2)))) return false;
    if (!good(MPI_Send(nullptr, 0, MPI_BYTE, wire_.peer, kWindowTag, wire_.comm))) return false;
    reading_.received += count;
    note_progress();
    return true;
  }

  void note_progress() noexcept { progress_.store(reading_.sent + reading_.received, std::memory_order_relaxed); }

  void mark_slices() noexcept {
    if (reading_.sent < next_slice_) return;
    const auto now = clock_.now_ns();
    for (; next_slice_ <= reading_.sent; next_slice_ += plan_.slice_messages) {
      if (reading_.slices < room_.slice_ends_ns.size()) room_.slice_ends_ns[reading_.slices++] = now;
    }
  }

  [[nodiscard]] bool good(int code) noexcept {
    reading_.code = code;
    return code == MPI_SUCCESS;
  }

  const Wire wire_;
  const StreamPlan plan_;
  StreamRoom& room_;
  std::atomic<std::uint64_t>& progress_;
  const std::uint64_t windows_;
  const MonotonicClock clock_{};
  KernelReading reading_;
  std::uint64_t next_slice_ = 0;
};

/// Cancels what is still active, which only receives may be, and drops what is over until the deadline; whether all is.
bool give_up(std::span<MPI_Request> requests, bool receives, Deadline deadline) noexcept {
  bool over = true;
  for (auto& request : requests) {
    if (request == MPI_REQUEST_NULL) continue;
    if (receives && MPI_Cancel(&request) != MPI_SUCCESS) return false;
    int done = 0;
    do {
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    } while (done == 0 && !deadline.passed());
    over = over && done != 0;
  }
  return over;
}

}  // namespace

int StreamRoom::prepare(const Wire& wire, const StreamPlan& plan) {
  slice_ends_ns.assign(plan.slice_messages == 0 ? 0 : plan.messages / plan.slice_messages, 0);
  for (std::size_t half = 0; half < 2; ++half) {
    sends[half].assign(plan.window, MPI_REQUEST_NULL);
    receives[half].assign(plan.window, MPI_REQUEST_NULL);
    if (half >= window_count(plan)) continue;
    int code = MPI_SUCCESS;
    if (plan.receives) code = post_receives(wire, receives[half], messages_of(plan, half));
    if (code == MPI_SUCCESS && plan.sends) code = post_acknowledgement(wire, acknowledgements[half]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

bool StreamRoom::cancel() noexcept {
  constexpr std::uint64_t kPatienceNs = 1'000'000'000;
  const auto deadline = Deadline::after_ns(kPatienceNs);
  bool over = give_up(acknowledgements, true, deadline);
  for (auto& half : receives) over = give_up(half, true, deadline) && over;
  for (auto& half : sends) over = give_up(half, false, deadline) && over;
  return over;
}

int meet(const Wire& wire) noexcept {
  return MPI_Sendrecv(nullptr, 0, MPI_BYTE, wire.peer, kMeetTag, nullptr, 0, MPI_BYTE, wire.peer, kMeetTag, wire.comm,
                      MPI_STATUS_IGNORE);
}

KernelReading run_stream(const Wire& wire, const StreamPlan& plan, StreamRoom& room,
                         std::atomic<std::uint64_t>& progress) noexcept {
  if (plan.sends && plan.receives) return Stream<true, true>{wire, plan, room, progress}.run();
  if (plan.sends) return Stream<true, false>{wire, plan, room, progress}.run();
  return Stream<false, true>{wire, plan, room, progress}.run();
}

KernelReading run_pinger(const Wire& wire, std::uint64_t round_trips, LatencyHistogram& histogram,
                         std::atomic<std::uint64_t>& progress) noexcept {
  const MonotonicClock clock;
  KernelReading reading;
  std::uint64_t first_ns = 0;
  std::uint64_t before_ns = 0;
  reading.begin_ns = clock.now_ns();
  for (std::uint64_t i = 0; i < round_trips; ++i) {
    reading.code = MPI_Send(wire.send_area, wire.size_bytes, MPI_BYTE, wire.peer, kDataTag, wire.comm);
    if (reading.code != MPI_SUCCESS) return reading;
    const auto now = clock.now_ns();
    if (i == 0) {
      first_ns = now;
    } else {
      histogram.record((now - before_ns + 1) / 2);
    }
    before_ns = now;
    progress.store(i + 1, std::memory_order_relaxed);
    reading.code =
        MPI_Recv(wire.receive_area, wire.size_bytes, MPI_BYTE, wire.peer, kDataTag, wire.comm, MPI_STATUS_IGNORE);
    if (reading.code != MPI_SUCCESS) return reading;
    ++reading.sent;
  }
  reading.end_ns = clock.now_ns();
  histogram.record((reading.end_ns - before_ns + first_ns - reading.begin_ns + 1) / 2);
  reading.received = reading.sent;
  return reading;
}

KernelReading run_ponger(const Wire& wire, std::uint64_t round_trips, std::atomic<std::uint64_t>& progress) noexcept {
  KernelReading reading;
  for (std::uint64_t i = 0; i < round_trips; ++i) {
    reading.code =
        MPI_Recv(wire.receive_area, wire.size_bytes, MPI_BYTE, wire.peer, kDataTag, wire.comm, MPI_STATUS_IGNORE);
    if (reading.code != MPI_SUCCESS) return reading;
    reading.code = MPI_Send(wire.send_area, wire.size_bytes, MPI_BYTE, wire.peer, kDataTag, wire.comm);
    if (reading.code != MPI_SUCCESS) return reading;
    progress.store(i + 1, std::memory_order_relaxed);
    ++reading.sent;
  }
  reading.received = reading.sent;
  return reading;
}

}  // namespace mtuscope::mpi
