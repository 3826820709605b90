#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "mtuscope/transport/backend.hpp"

namespace mtuscope::sweep {

/// The initiator's view of a pair: commands the responder and does the initiator's half. For back ends without a
/// peer the same calls go to the back end alone.
class Link {
 public:
  /// `exchange` is null for back ends without a peer.
  Link(Backend& backend, Exchange* exchange, std::uint64_t timeout_ns, const std::atomic<bool>& stop) noexcept
      : backend_(backend), exchange_(exchange), timeout_ns_(timeout_ns), stop_(stop) {}

  /// Introduces both ends; returns the responder's environment. Throws RunError if it refuses, PeerError if it is gone.
  [[nodiscard]] std::optional<Environment> greet(const Environment& mine);
  /// Opens one arrangement. Throws RunError with either end's reason; PeerError if the peer is gone.
  void open(std::span<const SessionSpec> specs);
  /// Runs the proof burst of session `index`. Throws RunError, PeerError.
  [[nodiscard]] MtuProof prove(std::uint32_t index);
  /// Runs one repetition. Throws PeerError if the peer is gone; every other failure is in the reading.
  [[nodiscard]] TrialReading run(std::uint32_t index, const TrialRequest& request);
  [[nodiscard]] bool usable(std::uint32_t index) const noexcept { return sessions_[index]->usable(); }
  /// Closes all sessions on both ends. Throws PeerError.
  void close();
  /// Ends the conversation; a peer that is gone already is no error.
  void say_goodbye() noexcept;

 private:
  void command(const std::vector<std::byte>& payload);
  [[nodiscard]] Deadline soon() const noexcept { return Deadline::after_ns(2 * timeout_ns_); }

  Backend& backend_;
  Exchange* exchange_;
  std::uint64_t timeout_ns_;
  const std::atomic<bool>& stop_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace mtuscope::sweep
