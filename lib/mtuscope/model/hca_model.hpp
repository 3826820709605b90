#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mtuscope/core/point.hpp"

namespace mtuscope::model {

/// One HCA pair and the link between: what a message costs the sender, the link, the receiver and its credits.
/// The equations are in docs/models.md; values and their sources in catalog.cpp.
struct HcaParameters {
  double message_overlapped_ns = 0;         ///< sender, per message, hidden behind a wait for credits
  double message_serial_ns = 0;             ///< sender, per message, after its first packet has been granted credits
  double packet_ns = 0;                     ///< sender, per packet
  double bus_read_ns_per_byte = 0;          ///< sender's host bus
  double bus_write_ns_per_byte = 0;         ///< receiver's host bus: how fast its packet buffer drains
  double link_ns_per_byte = 0;              ///< data rate of the link
  std::uint32_t wire_header_bytes = 0;      ///< on the link around every packet's payload
  std::uint32_t credit_header_bytes = 0;    ///< the part of those headers that occupies the receiver's buffer
  std::uint32_t credit_block_bytes = 0;     ///< what one link credit stands for
  std::uint32_t credit_blocks = 0;          ///< the receiver's packet buffer
  std::uint32_t datagram_header_bytes = 0;  ///< what UD adds to every packet
};

/// The MPI library and host above the HCA; points of connection `mpi` only.
struct MpiParameters {
  std::uint64_t small_message_max_bytes = 0;  ///< MPI sizes up to here take the small-message path (if it has a header)
  double small_message_ns = 0;                ///< interval between messages on that path, whatever their size
  double host_ns = 0;                         ///< the host's own time per message, in parallel with the HCA
  double host_ns_per_byte = 0;                ///< and per byte of MPI size
};

struct HcaModel {
  HcaParameters hca;
  MpiParameters mpi;
};

/// Equal messages one after another through one HCA pair: a serial sender, a serial store-and-forward receiver, and
/// packets that may only start while the receiver's buffer has credits for them.
///
/// Time is counted in whole femtoseconds from the start of each message. Integers make "the state is the one before" a
/// fact and not a rounding accident, so that a steady stream need not be simulated any further.
class MessageEngine {
 public:
  /// Messages of `wire_size_bytes` (at least 1), cut into packets of at most `packet_limit_bytes`.
  /// Throws ConfigError if a packet needs more credits than there are: it could never be sent.
  MessageEngine(const HcaParameters& parameters, std::uint64_t wire_size_bytes, std::uint64_t packet_limit_bytes);

  /// Time from the end of the previous message at the sender (or the idle start) to the end of the next one [ns].
  [[nodiscard]] double next_interval_ns() noexcept;
  /// Whether the last message ended in the state it began in, so that every later interval equals its own.
  [[nodiscard]] bool steady() const noexcept { return steady_; }

 private:
  struct Packet {
    std::int64_t send_fs = 0;
    std::int64_t drain_fs = 0;
    std::uint32_t blocks = 0;
  };
  /// A packet whose credits have not been taken back yet.
  struct Outstanding {
    std::int64_t drained_fs = 0;
    std::uint32_t blocks = 0;
    friend bool operator==(const Outstanding&, const Outstanding&) = default;
  };

  [[nodiscard]] static Packet make_packet(const HcaParameters& parameters, std::uint64_t size_bytes);
  void simulate_message() noexcept;
  void wait_for_credits(const Packet& packet) noexcept;
  void transmit(const Packet& packet) noexcept;
  /// Moves the origin of time to the end of the message and compares the state with the one it began in.
  void finish_message() noexcept;
  void release_oldest() noexcept;

  std::int64_t message_overlapped_fs_;
  std::int64_t message_serial_fs_;
  std::uint32_t credit_blocks_;
  std::uint64_t full_count_;  ///< packets before the last
  Packet full_;
  Packet last_;

  std::vector<Outstanding> ring_;  ///< a power of two of slots, more than the packets that credits allow
  std::size_t oldest_ = 0;
  std::size_t outstanding_ = 0;
  std::uint32_t used_blocks_ = 0;
  std::int64_t now_fs_ = 0;
  std::int64_t last_drained_fs_ = 0;
  std::vector<Outstanding> state_before_;
  double interval_ns_ = 0;
  bool steady_ = false;
};

/// The messages of one point, as their completions appear at the sender from an idle start.
class MessageStream {
 public:
  /// `point` must be one that `refusal` (backend.hpp) lets pass. Throws ConfigError as MessageEngine does.
  MessageStream(const HcaModel& model, const Point& point);

  /// When the next message is complete [ns since the start of the stream].
  [[nodiscard]] double next_completion_ns() noexcept;

 private:
  std::optional<MessageEngine> engine_;  ///< none for MPI's small messages, which have an interval and no equation
  double host_interval_ns_ = 0;
  double engine_now_ns_ = 0;
  double host_now_ns_ = 0;
};

/// The sending HCA; each trial starts with an idle pair, so that equal trials give equal numbers.
class HcaDevice {
 public:
  using Parameters = HcaModel;

  explicit HcaDevice(const HcaModel& model) : model_(model) {}

  void configure(const Point& point) { stream_.emplace(model_, point); }
  [[nodiscard]] double next_completion_ns() noexcept { return stream_->next_completion_ns(); }

 private:
  HcaModel model_;
  std::optional<MessageStream> stream_;
};

}  // namespace mtuscope::model
