#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/core/error.hpp"

namespace mtuscope {

/// Which end of a connected pair this is. The initiator drives: it decides what is run and when.
enum class Role : std::uint8_t { initiator, responder };

/// The first byte of every frame.
enum class FrameKind : std::uint8_t {
  data = 1,      ///< payload of the step both ends are in
  error = 2,     ///< the sender failed; the payload is its one-line reason
  finished = 3,  ///< the sender has done its part of a step that may fail half way (see run_step)
  gone = 4,      ///< the sender has left the conversation; the payload is its one-line reason
};

struct Frame {
  FrameKind kind = FrameKind::data;
  std::vector<std::byte> payload;
};

/// Largest payload a frame may have [bytes]; a longer announcement is refused before anything is allocated.
inline constexpr std::size_t kMaxFrameBytes = 1U << 20U;

/// The out-of-band connection of a pair: TCP, MPI, or a queue between two threads. Every wait has a deadline.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// Sends one frame. Throws PeerError if the peer is gone or takes nothing until the deadline.
  virtual void send(FrameKind kind, std::span<const std::byte> payload, Deadline deadline) = 0;
  /// The next frame in order. Throws PeerError if the peer is gone or silent until the deadline.
  [[nodiscard]] virtual Frame receive(Deadline deadline) = 0;
  /// True as soon as a frame (or the peer's end) waits to be received; false after `wait_ms` without one.
  [[nodiscard]] virtual bool readable_within(int wait_ms) noexcept = 0;
  /// False once the connection is known to be gone; never blocks.
  [[nodiscard]] virtual bool peer_alive() noexcept = 0;
  /// The other end, for messages: "10.0.0.2:18515", "in process".
  [[nodiscard]] virtual std::string peer_name() const = 0;
};

/// The peer failed in the step both ends are in, and lives: its last frame of this step has been received.
class PeerFailed : public RunError {
 public:
  using RunError::RunError;
};

/// Receives a data frame's payload; an error frame becomes PeerFailed with the peer's own words, a gone frame
/// PeerError.
[[nodiscard]] std::vector<std::byte> receive_data(Exchange& exchange, Deadline deadline);
/// Both ends send and receive one payload.
// NOLINTNEXTLINE(bugprone-exception-escape): it is no std::swap
[[nodiscard]] std::vector<std::byte> swap(Exchange& exchange, std::span<const std::byte> mine, Deadline deadline);
/// Neither end returns before the other has called it.
void barrier(Exchange& exchange, Deadline deadline);
/// Runs a step of several swaps that either end may leave half way. Each end ends it with one frame, finished or error;
/// what the peer still had under way is passed over. Returns the reason if either end failed. Throws PeerError.
[[nodiscard]] std::optional<std::string> run_step(Exchange& exchange, const std::function<void()>& step,
                                                  Deadline deadline);
/// Tells the peer that this end failed in this step (`kind` error) or has left (gone); a peer that has left already is
/// no error here.
void send_error(Exchange& exchange, std::string_view reason, FrameKind kind = FrameKind::error) noexcept;

}  // namespace mtuscope
