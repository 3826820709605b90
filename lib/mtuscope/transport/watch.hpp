#pragma once
#include <atomic>
#include <cstdint>

namespace mtuscope {

/// Why a waiting kernel should stop, or that it should not.
enum class WatchVerdict : std::uint8_t {
  go_on,
  peer_finished,  ///< the peer said out of band that its part is over
  peer_lost,      ///< the out-of-band connection is gone
  timed_out,      ///< our own deadline passed
  interrupted     ///< the user asked to stop
};

/// Looked at by kernels only after many empty polls, so a virtual call and system calls are allowed here.
class Watch {
 public:
  Watch() = default;
  /// `stop` is set by the user's wish to end; it outlives the watch.
  explicit Watch(const std::atomic<bool>& stop) noexcept : stop_(&stop) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  virtual ~Watch() = default;
  /// `progressed`: messages flowed since the last check, so the deadline starts anew.
  [[nodiscard]] virtual WatchVerdict check(bool progressed) noexcept = 0;
  /// Cheap enough to be asked now and then while messages flow.
  [[nodiscard]] bool stop_requested() const noexcept {
    return stop_ != nullptr && stop_->load(std::memory_order_relaxed);
  }

 private:
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace mtuscope
