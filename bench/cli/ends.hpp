#pragma once
#include <atomic>
#include <memory>
#include <thread>

#include "mtuscope/transport/backend.hpp"
#include "options.hpp"

namespace mtuscope::cli {

/// The other end of a sweep: a connection to `mtuscope serve`, a thread of this process, or none.
class OtherEnd {
 public:
  /// Connects or starts what the options say. Throws ConfigError (options that do not suit the back end, unknown
  /// device) and RunError (no connection, unusable device).
  OtherEnd(const SweepOptions& options, const Backend& backend);
  OtherEnd(const OtherEnd&) = delete;
  OtherEnd& operator=(const OtherEnd&) = delete;
  /// Closes the connection; a thread of this process is waited for, which its own deadlines bound.
  ~OtherEnd();

  /// Null for a back end without a peer.
  [[nodiscard]] Exchange* exchange() const noexcept { return exchange_.get(); }

 private:
  void start_loopback(const SweepOptions& options);

  std::unique_ptr<Backend> peer_backend_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Exchange> peer_exchange_;
  /// Never set: the initiator's goodbye, or its end, ends the responder, so that an interrupted run is finished by one
  /// side only.
  std::atomic<bool> peer_stop_{false};
  std::thread peer_;
};

}  // namespace mtuscope::cli
