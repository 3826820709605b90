#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "mtuscope/transport/watch.hpp"

namespace mtuscope::mpi {

/// Ends a job whose measuring thread is stuck in a blocking MPI call, for which MPI has no deadline. It is not expected
/// to return; the front end prints `reason`, one line, and ends all ranks.
using Alarm = std::function<void(const std::string& reason)>;

/// A thread that looks, a few times a second, whether a kernel still moves. Kernels only store a number.
class Watchdog {
 public:
  /// Rings `alarm` when nothing has moved for `timeout_ns`, or the user's wish to stop is that old.
  Watchdog(std::uint64_t timeout_ns, Alarm alarm);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// On duty while it lives. `what` and `watch` must outlive it.
  class Duty {
   public:
    Duty(Watchdog& dog, std::string what, const Watch& watch);
    Duty(const Duty&) = delete;
    Duty& operator=(const Duty&) = delete;
    ~Duty();

   private:
    Watchdog& dog_;
  };

  /// Where a kernel keeps how far it is (relaxed stores are enough).
  [[nodiscard]] std::atomic<std::uint64_t>& progress() noexcept { return progress_; }

 private:
  /// What is watched; `number` tells one duty from the next.
  struct Watched {
    const Watch* watch = nullptr;
    std::string what;
    std::uint64_t number = 0;
  };
  /// What was seen at the last looks.
  struct Seen {
    std::uint64_t number = 0;
    std::uint64_t progress = 0;
    std::uint64_t moved_ns = 0;
    std::uint64_t stop_since_ns = 0;  ///< 0: no wish to stop yet
  };

  void keep_watch(const std::stop_token& stop);
  [[nodiscard]] std::string look(Seen& seen) const;

  const std::uint64_t timeout_ns_;
  const Alarm alarm_;
  std::atomic<std::uint64_t> progress_{0};
  std::mutex mutex_;
  std::condition_variable_any ending_;
  Watched watched_;
  std::jthread thread_;
};

}  // namespace mtuscope::mpi
