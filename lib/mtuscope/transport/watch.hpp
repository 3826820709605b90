#pragma once
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
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  virtual ~Watch() = default;
  /// `progressed`: messages flowed since the last check, so the deadline starts anew.
  [[nodiscard]] virtual WatchVerdict check(bool progressed) noexcept = 0;
};

}  // namespace mtuscope
