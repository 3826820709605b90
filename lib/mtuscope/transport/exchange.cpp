#include "mtuscope/transport/exchange.hpp"

#include <algorithm>
#include <exception>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/core/printable.hpp"

namespace mtuscope {

namespace {

/// The peer's own words, with its name.
std::string said(const Exchange& exchange, const Frame& frame) {
  constexpr std::size_t kMaxWordsBytes = 2000;
  const std::string_view words{reinterpret_cast<const char*>(frame.payload.data()),
                               std::min(frame.payload.size(), kMaxWordsBytes)};
  return "peer " + exchange.peer_name() + ": " + printable(words);
}

void throw_if_gone(const Exchange& exchange, const Frame& frame) {
  if (frame.kind == FrameKind::gone) throw PeerError(said(exchange, frame));
}

}  // namespace

std::vector<std::byte> receive_data(Exchange& exchange, Deadline deadline) {
  auto frame = exchange.receive(deadline);
  if (frame.kind == FrameKind::data) return std::move(frame.payload);
  if (frame.kind == FrameKind::error) throw PeerFailed(said(exchange, frame));
  throw_if_gone(exchange, frame);
  throw PeerError("the peer " + exchange.peer_name() + " is in another step of the run than this end");
}

std::optional<std::string> run_step(Exchange& exchange, const std::function<void()>& step, Deadline deadline) {
  std::optional<std::string> error;
  try {
    step();
    exchange.send(FrameKind::finished, {}, deadline);
  } catch (const PeerError&) {
    throw;
  } catch (const PeerFailed& failure) {
    send_error(exchange, "stopped with its peer");
    return failure.what();
  } catch (const RunError& failure) {
    error = failure.what();
    send_error(exchange, *error);
  }
  while (true) {
    const auto frame = exchange.receive(deadline);
    if (deadline.passed()) throw PeerError("the peer " + exchange.peer_name() + " did not end its step in time");
    if (frame.kind == FrameKind::data) continue;
    throw_if_gone(exchange, frame);
    if (error || frame.kind == FrameKind::finished) return error;
    return said(exchange, frame);
  }
}

// NOLINTNEXTLINE(bugprone-exception-escape): swaps payloads with the peer; it is no std::swap
std::vector<std::byte> swap(Exchange& exchange, std::span<const std::byte> mine, Deadline deadline) {
  exchange.send(FrameKind::data, mine, deadline);
  return receive_data(exchange, deadline);
}

void barrier(Exchange& exchange, Deadline deadline) {
  if (!swap(exchange, {}, deadline).empty()) {
    throw PeerError("the peer " + exchange.peer_name() + " is in another step of the run than this end");
  }
}

void send_error(Exchange& exchange, std::string_view reason, FrameKind kind) noexcept {
  constexpr std::uint64_t kPatienceNs = 1'000'000'000;
  constexpr std::size_t kMaxReasonBytes = 2000;
  try {
    const auto text = reason.substr(0, kMaxReasonBytes);
    exchange.send(kind, std::as_bytes(std::span{text.data(), text.size()}), Deadline::after_ns(kPatienceNs));
  } catch (const std::exception& error) {  // the peer is gone: it needs no telling
    log(LogLevel::debug, error.what());
  }
}

}  // namespace mtuscope
