#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mtuscope/core/point.hpp"
#include "mtuscope/transport/block_cycle.hpp"
#include "mtuscope/transport/block_pool.hpp"
#include "mtuscope/transport/channel.hpp"
#include "mtuscope/transport/session.hpp"

namespace mtuscope::memory {

/// The fields a send descriptor needs, in the shape of a verbs work request, so that setting one up costs the same.
struct Descriptor {
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint32_t length_bytes = 0;
  std::uint32_t key = 0;
  bool signaled = false;
};

/// Book-keeping shared by both floors: messages posted complete at the next poll, cq-mod messages per completion.
class FloorQueue {
 public:
  FloorQueue(std::uint32_t qp_count, std::uint32_t cq_mod)
      : pending_(qp_count), cq_mod_(std::max<std::uint32_t>(1, cq_mod)) {}

  void add(std::uint32_t qp, std::uint32_t count, bool last) noexcept {
    auto& queue = pending_[qp];
    queue.posted += count;
    while (queue.posted - queue.signaled >= cq_mod_) queue.signaled += cq_mod_;
    if (last) queue.signaled = queue.posted;
  }
  [[nodiscard]] int take(std::span<Completion> out) noexcept {
    std::size_t found = 0;
    for (std::uint32_t q = 0; q < pending_.size(); ++q) {
      auto& queue = pending_[q];
      for (; queue.taken < queue.signaled && found < out.size(); ++found) {
        const auto messages = std::min(cq_mod_, static_cast<std::uint32_t>(queue.signaled - queue.taken));
        queue.taken += messages;
        out[found] = {.qp = q, .messages = messages};
      }
    }
    return static_cast<int>(found);
  }

 private:
  /// Counts of messages. All those before `signaled` have a completion; those before `taken` have had it.
  struct Pending {
    std::uint64_t posted = 0;
    std::uint64_t signaled = 0;
    std::uint64_t taken = 0;
  };
  std::vector<Pending> pending_;
  std::uint32_t cq_mod_;
};

/// Every message has the same buffer. A type of its own, so that messages without blocks pay nothing for them.
struct OneBuffer {
  explicit OneBuffer(const SessionSpec& /*spec*/) {}
  /// Where the next message is, from the first byte of all.
  [[nodiscard]] static std::uint64_t next_offset() noexcept { return 0; }
  static void give_back(std::span<const Completion> /*done*/) noexcept {}
};

/// The blocks that a session's messages cycle through; the cycle goes on from trial to trial.
class CycledBlocks {
 public:
  /// `spec` has a working set.
  explicit CycledBlocks(const SessionSpec& spec) : CycledBlocks(spec.working_set.value(), spec.tx_depth) {}
  [[nodiscard]] std::uint64_t next_offset() noexcept { return cycle_.next() * stride_bytes_; }
  void give_back(std::span<const Completion> done) noexcept {
    for (const auto& completion : done) cycle_.give_back(completion.messages);
  }

 private:
  CycledBlocks(const WorkingSet& set, std::uint32_t in_flight)
      : stride_bytes_(layout_of(set).stride_bytes), cycle_(set.block_count, set.order, in_flight) {}

  std::uint64_t stride_bytes_;
  BlockCycle cycle_;
};

/// Sets up a descriptor per message and drops it.
template <class Blocks>
class NullChannel {
 public:
  explicit NullChannel(const SessionSpec& spec) : queue_(spec.qp_count, spec.cq_mod), blocks_(spec) {}

  void configure(const Point& point) noexcept { length_bytes_ = static_cast<std::uint32_t>(wire_size_bytes(point)); }
  [[nodiscard]] bool post(std::uint32_t qp, std::uint32_t count, bool last) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      auto& descriptor = ring_[next_++ % ring_.size()];
      descriptor = {next_, blocks_.next_offset(), length_bytes_, qp, last};
    }
    queue_.add(qp, count, last);
    return true;
  }
  [[nodiscard]] int poll_send(std::span<Completion> out) noexcept {
    const int found = queue_.take(out);
    blocks_.give_back(out.first(static_cast<std::size_t>(found)));
    return found;
  }
  [[nodiscard]] bool arm() noexcept { return true; }
  [[nodiscard]] int wait_event(int /*ms*/) noexcept { return 1; }

 private:
  std::array<Descriptor, 64> ring_{};
  std::size_t next_ = 0;
  std::uint32_t length_bytes_ = 0;
  FloorQueue queue_;
  Blocks blocks_;
};

/// What the messages of all sessions of the memset floor are written to: blocks, or one buffer.
struct FloorMemory {
  /// Throws RunError as BlockPool does.
  FloorMemory(std::span<const WorkingSet> sets, std::uint64_t message_size_bytes)
      : pool(sets), buffer(static_cast<std::size_t>(message_size_bytes)) {}
  BlockPool pool;
  std::vector<std::byte> buffer;
};

/// Writes the whole message with memset.
template <class Blocks>
class MemsetChannel {
 public:
  /// `base`: the session's block 0, or the buffer of all messages; in `memory`.
  MemsetChannel(const SessionSpec& spec, std::shared_ptr<const FloorMemory> memory, std::byte* base)
      : memory_(std::move(memory)), base_(base), queue_(spec.qp_count, spec.cq_mod), blocks_(spec) {}

  void configure(const Point& point) noexcept { length_bytes_ = static_cast<std::size_t>(wire_size_bytes(point)); }
  [[nodiscard]] bool post(std::uint32_t qp, std::uint32_t count, bool last) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      auto* const message = base_ + blocks_.next_offset();
      std::memset(message, static_cast<int>(++value_ & 0xffU), length_bytes_);
      // The compiler must believe that somebody reads the buffer, or it may drop the writes.
      asm volatile("" : : "r"(message) : "memory");
    }
    queue_.add(qp, count, last);
    return true;
  }
  [[nodiscard]] int poll_send(std::span<Completion> out) noexcept {
    const int found = queue_.take(out);
    blocks_.give_back(out.first(static_cast<std::size_t>(found)));
    return found;
  }
  [[nodiscard]] bool arm() noexcept { return true; }
  [[nodiscard]] int wait_event(int /*ms*/) noexcept { return 1; }

 private:
  std::shared_ptr<const FloorMemory> memory_;
  std::byte* base_;
  std::size_t length_bytes_ = 0;
  unsigned value_ = 0;
  FloorQueue queue_;
  Blocks blocks_;
};

static_assert(SendChannel<NullChannel<OneBuffer>> && SendChannel<MemsetChannel<CycledBlocks>>);

}  // namespace mtuscope::memory
