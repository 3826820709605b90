#pragma once
#include <infiniband/verbs.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace mtuscope::verbs {

/// Blocks on a completion channel with a deadline but without a poll(2) per event, which costs 2 of the 72 us that one
/// small message takes on Soft-RoCE under emulation. A second thread looks every tick whether the wait has lasted
/// since the tick before, and if so ends it with a signal (SIGURG, for which an empty handler is installed; its default
/// is to be ignored). At most one wait per object at a time.
class EventWaiter {
 public:
  /// The calling thread is the one that will wait.
  explicit EventWaiter(ibv_comp_channel& channel);
  EventWaiter(const EventWaiter&) = delete;
  EventWaiter& operator=(const EventWaiter&) = delete;
  ~EventWaiter();

  /// The completion queue an event came for; null after one to two ticks of 20 ms without any, or after an error, which
  /// then is in errno (EINTR: only the ticks ended the wait).
  [[nodiscard]] ibv_cq* wait() noexcept;

 private:
  void watch();

  ibv_comp_channel& channel_;
  pthread_t waiting_thread_;
  std::uint64_t waits_ = 0;
  std::atomic<std::uint64_t> current_wait_{0};  ///< 0: not waiting
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::thread watcher_;
};

}  // namespace mtuscope::verbs
