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
#include "mtuscope/transport/channel.hpp"

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

/// Sets up a descriptor per message and drops it.
class NullChannel {
 public:
  NullChannel(std::uint32_t qp_count, std::uint32_t cq_mod) : queue_(qp_count, cq_mod) {}

  void configure(const Point& point) noexcept { length_bytes_ = static_cast<std::uint32_t>(wire_size_bytes(point)); }
  [[nodiscard]] bool post(std::uint32_t qp, std::uint32_t count, bool last) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      auto& descriptor = ring_[next_++ % ring_.size()];
      descriptor = {next_, reinterpret_cast<std::uintptr_t>(&descriptor), length_bytes_, qp, last};
    }
    queue_.add(qp, count, last);
    return true;
  }
  [[nodiscard]] int poll_send(std::span<Completion> out) noexcept { return queue_.take(out); }
  [[nodiscard]] bool arm() noexcept { return true; }
  [[nodiscard]] int wait_event(int /*ms*/) noexcept { return 1; }

 private:
  std::array<Descriptor, 64> ring_{};
  std::size_t next_ = 0;
  std::uint32_t length_bytes_ = 0;
  FloorQueue queue_;
};

/// Writes the whole message with memset.
class MemsetChannel {
 public:
  MemsetChannel(std::uint32_t qp_count, std::uint32_t cq_mod, std::shared_ptr<std::vector<std::byte>> buffer)
      : buffer_(std::move(buffer)), queue_(qp_count, cq_mod) {}

  void configure(const Point& point) noexcept { length_bytes_ = static_cast<std::size_t>(wire_size_bytes(point)); }
  [[nodiscard]] bool post(std::uint32_t qp, std::uint32_t count, bool last) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      std::memset(buffer_->data(), static_cast<int>(++value_ & 0xffU), length_bytes_);
      // The compiler must believe that somebody reads the buffer, or it may drop the writes.
      asm volatile("" : : "r"(buffer_->data()) : "memory");
    }
    queue_.add(qp, count, last);
    return true;
  }
  [[nodiscard]] int poll_send(std::span<Completion> out) noexcept { return queue_.take(out); }
  [[nodiscard]] bool arm() noexcept { return true; }
  [[nodiscard]] int wait_event(int /*ms*/) noexcept { return 1; }

 private:
  std::shared_ptr<std::vector<std::byte>> buffer_;
  std::size_t length_bytes_ = 0;
  unsigned value_ = 0;
  FloorQueue queue_;
};

static_assert(SendChannel<NullChannel> && SendChannel<MemsetChannel>);

}  // namespace mtuscope::memory
