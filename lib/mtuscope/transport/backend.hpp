#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/core/outcome.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/exchange.hpp"
#include "mtuscope/transport/session.hpp"

namespace mtuscope {

/// A way to move messages: verbs, MPI, null, memset, or a model.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// "verbs", "null", "memset", "model:tavor".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual Source source() const noexcept = 0;
  /// Whether `open` needs an Exchange with a responder at its other end.
  [[nodiscard]] virtual bool needs_peer() const noexcept = 0;
  /// Whether repetitions are identical by construction, so that one trial says all.
  [[nodiscard]] virtual bool deterministic() const noexcept = 0;
  /// Why `point` cannot be measured between this end and a peer with environment `peer`; nothing if it can.
  [[nodiscard]] virtual std::optional<std::string> refusal(const Point& point, const Environment* peer) const = 0;
  /// The device, port and GID in use; host fields are left empty.
  [[nodiscard]] virtual Environment environment() const = 0;
  /// Opens one arrangement: fresh allocation, registration and connection of all `specs`, which share one working
  /// set. Both ends call it with the same specs. `exchange` is null exactly when `needs_peer()` is false, and must
  /// outlive the sessions. Throws RunError; a peer that waits is told with `send_error` by the caller.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role role,
                                                                   Exchange* exchange) = 0;
};

}  // namespace mtuscope
