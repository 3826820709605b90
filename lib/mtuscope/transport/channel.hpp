#pragma once
#include <concepts>
#include <cstdint>
#include <span>

namespace mtuscope {

/// How many messages of which queue pair one polled completion stands for (cq-mod messages per send completion).
struct Completion {
  std::uint32_t qp = 0;
  std::uint32_t messages = 0;
  std::uint32_t immediate = 0;  ///< receive side with flow control: sequence number or credit, host byte order
  bool is_credit = false;       ///< receive side: a credit acknowledgement, not a message
};

/// Returned by poll functions instead of a count when a completion carried an error; the channel keeps the details.
inline constexpr int kPollFailed = -1;

// clang-format 14 does not know requirements with noexcept and a return type.
// clang-format off

/// The sending data path of all queue pairs of one session end. Nothing here may throw, allocate or make a virtual call.
/// - `post(qp, count, last)`: hands `count` messages to queue pair `qp`; `last` marks the end of a trial, whose last
///   work request is always signaled. False: the provider refused.
/// - `poll_send(out)`: completions found (0 = none), or kPollFailed.
/// - `arm()`: asks for an event on the next completion of either direction; false: failed.
/// - `wait_event(ms)`: sleeps until one, at most `ms`: 1 an event came, 0 none did, -1 failed.
template <class T>
concept SendChannel = requires(T& channel, std::uint32_t qp, std::uint32_t count, bool last, std::span<Completion> out) {
  { channel.post(qp, count, last) } noexcept -> std::same_as<bool>;
  { channel.poll_send(out) } noexcept -> std::same_as<int>;
  { channel.arm() } noexcept -> std::same_as<bool>;
  { channel.wait_event(int{}) } noexcept -> std::same_as<int>;
};

/// A channel that also receives.
/// - `poll_receive(out)`: as poll_send; one entry per message or credit acknowledgement.
/// - `post_receives(qp, count)`: gives `count` receives back to `qp`.
/// - `post_credit(qp, sequence)`: tells the sender that everything before `sequence` has left the receive queue. Its own
///   send completion comes out of poll_send as an entry of 0 messages.
template <class T>
concept Channel = SendChannel<T> &&
    requires(T& channel, std::uint32_t qp, std::uint32_t count, std::span<Completion> out) {
  { channel.poll_receive(out) } noexcept -> std::same_as<int>;
  { channel.post_receives(qp, count) } noexcept -> std::same_as<bool>;
  { channel.post_credit(qp, count) } noexcept -> std::same_as<bool>;
};

/// A channel whose writes can be seen arriving by the byte they end with (ping-pong by RDMA write).
/// - `stamp(value)`: sets the last byte of the next message; `stamp_seen(value)`: whether a message ending so arrived.
/// Before a trial the last byte of the destination is 0 and the first stamp is 1.
template <class T>
concept StampedChannel = SendChannel<T> && requires(T& channel, std::uint8_t value) {
  { channel.stamp(value) } noexcept -> std::same_as<void>;
  { channel.stamp_seen(value) } noexcept -> std::same_as<bool>;
};
// clang-format on

}  // namespace mtuscope
