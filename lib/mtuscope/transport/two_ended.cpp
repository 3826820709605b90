#include "mtuscope/transport/two_ended.hpp"

#include <algorithm>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/transport/wire.hpp"

namespace mtuscope {
namespace {

WireWriter encode(const EndReading& reading) {
  WireWriter writer;
  writer.put(reading.status);
  writer.put(std::string_view{reading.reason});
  writer.put(reading.sent);
  writer.put(reading.received);
  writer.put(reading.send_elapsed_ns);
  writer.put(reading.receive_elapsed_ns);
  writer.put(reading.min_slice_bytes_per_s);
  return writer;
}

EndReading decode(std::span<const std::byte> bytes) {
  WireReader reader{bytes};
  EndReading reading;
  reading.status = reader.get_enum(KernelStatus::interrupted);
  reading.reason = reader.get_string();
  reading.sent = reader.get<std::uint64_t>();
  reading.received = reader.get<std::uint64_t>();
  reading.send_elapsed_ns = reader.get<std::uint64_t>();
  reading.receive_elapsed_ns = reader.get<std::uint64_t>();
  if (reader.get_bool()) reading.min_slice_bytes_per_s = reader.get_double();
  reader.expect_end();
  return reading;
}

/// A lossy receiver that ended by silence has done its part.
bool succeeded(const EndReading& reading, const Point& point) noexcept {
  return reading.status == KernelStatus::ok || (reading.status == KernelStatus::peer_finished &&
                                                counts_arrivals(point) && point.pattern != Pattern::ping_pong);
}

TrialStatus status_of(const EndReading& mine, const EndReading& theirs, const Point& point) noexcept {
  if (mine.status == KernelStatus::peer_lost) return TrialStatus::peer_lost;
  if (mine.status == KernelStatus::interrupted) return TrialStatus::interrupted;
  if (theirs.status == KernelStatus::interrupted) return TrialStatus::peer_lost;  // its user has stopped it
  return succeeded(mine, point) && succeeded(theirs, point) ? TrialStatus::ok : TrialStatus::failed;
}

std::string reason_of(const EndReading& mine, const EndReading& theirs, const Point& point, const Exchange& exchange) {
  std::string reason;
  if (!succeeded(mine, point)) reason = mine.reason;
  if (!succeeded(theirs, point)) {
    if (!reason.empty()) reason += "; ";
    reason += "peer " + exchange.peer_name() + ": " + theirs.reason;
  }
  return reason;
}

/// What arrived, timed by the receivers: the first message only starts the clock.
void combine_arrivals(TrialReading& reading, const EndReading& mine, const EndReading& theirs, bool both) {
  const auto counted = [](std::uint64_t received) { return received > 0 ? received - 1 : 0; };
  reading.messages = counted(theirs.received) + (both ? counted(mine.received) : 0);
  reading.elapsed_ns = both ? std::max(mine.receive_elapsed_ns, theirs.receive_elapsed_ns) : theirs.receive_elapsed_ns;
  reading.sender_elapsed_ns = both ? std::max(mine.send_elapsed_ns, theirs.send_elapsed_ns) : mine.send_elapsed_ns;
  reading.sent_messages = mine.sent + (both ? theirs.sent : 0);
  reading.received_messages = theirs.received + (both ? mine.received : 0);
  if (!both) reading.min_slice_bytes_per_s = theirs.min_slice_bytes_per_s;
  if (reading.messages == 0 || reading.elapsed_ns == 0) {
    reading.status = TrialStatus::failed;
    reading.reason = "of " + std::to_string(*reading.sent_messages) + " messages sent " +
                     std::to_string(*reading.received_messages) + " arrived: too few for a bandwidth";
  }
}

TrialReading combine(const Point& point, EndReading mine, const EndReading& theirs, const Exchange& exchange) {
  TrialReading reading;
  reading.status = status_of(mine, theirs, point);
  if (reading.status != TrialStatus::ok) {
    reading.reason = reason_of(mine, theirs, point, exchange);
    return reading;
  }
  const bool both = point.pattern == Pattern::bidirectional;
  if (point.pattern != Pattern::ping_pong && counts_arrivals(point)) {
    const bool mine_sent = both || mine.sent >= theirs.sent;  // at the responder it was the peer
    combine_arrivals(reading, mine_sent ? mine : theirs, mine_sent ? theirs : mine, both);
    return reading;
  }
  reading.messages = mine.sent + (both ? theirs.sent : 0);
  reading.elapsed_ns = both ? std::max(mine.send_elapsed_ns, theirs.send_elapsed_ns) : mine.send_elapsed_ns;
  if (!both) reading.min_slice_bytes_per_s = mine.min_slice_bytes_per_s;
  if (point.connection == Connection::uc) reading.sent_messages = reading.messages;
  reading.latency = std::move(mine.latency);
  return reading;
}

/// The passive end has nothing to do but to wait for the active one, which may take long: the user can stop it
/// meanwhile.
void wait_for_active_end(Exchange& exchange, const Watch& watch) {
  constexpr int kStopLookMs = 100;
  const auto deadline = Deadline::after_ns(kLongestTrialNs);
  do {
    if (watch.stop_requested()) throw RunError("the passive end was stopped");
  } while (!exchange.readable_within(kStopLookMs) && !deadline.passed());
}

}  // namespace

WatchVerdict ExchangeWatch::check(bool progressed) noexcept {
  if (stop_requested()) return WatchVerdict::interrupted;
  const auto now = MonotonicClock{}.now_ns();
  if (progressed || last_progress_ns_ == 0) last_progress_ns_ = now;
  if (exchange_ != nullptr && !exchange_->peer_alive()) return WatchVerdict::peer_lost;
  if (now - last_progress_ns_ > timeout_ns_) return WatchVerdict::timed_out;
  if (exchange_ != nullptr && exchange_->readable_within(0)) return WatchVerdict::peer_finished;
  return WatchVerdict::go_on;
}

bool counts_arrivals(const Point& point) noexcept {
  return point.operation == Operation::send &&
         (point.connection == Connection::uc || point.connection == Connection::ud);
}

bool responder_is_passive(const Point& point) noexcept {
  if (point.operation == Operation::send || point.pattern == Pattern::bidirectional) return false;
  return point.pattern == Pattern::stream || point.operation == Operation::read;
}

TrialReading run_two_ended(TrialEnd& end, const TrialRequest& request, Exchange& exchange, Watch& watch,
                           std::uint64_t timeout_ns) {
  const auto limit = [&] { return Deadline::after_ns(2 * timeout_ns + 1'000'000'000U); };
  try {
    end.prepare(request);
  } catch (const PeerError&) {
    throw;
  } catch (const RunError& error) {
    send_error(exchange, error.what());
    (void)exchange.receive(limit());  // the peer's half of the barrier, or its own error
    return failed_reading(error.what());
  }
  try {
    barrier(exchange, limit());
  } catch (const PeerError&) {
    throw;
  } catch (const RunError& error) {  // the peer could not prepare
    return failed_reading(error.what());
  }
  auto mine = end.execute(request, watch);
  if (mine.status == KernelStatus::peer_lost) {
    throw PeerError("the peer " + exchange.peer_name() + " was lost in mid-trial (" + describe(request.point) + ")" +
                    (mine.reason.empty() ? "" : ": " + mine.reason));
  }
  exchange.send(FrameKind::data, encode(mine).bytes(), limit());
  const bool passive = responder_is_passive(request.point) && mine.status == KernelStatus::ok && mine.sent == 0;
  if (passive) wait_for_active_end(exchange, watch);
  const auto theirs = decode(receive_data(exchange, limit()));
  return combine(request.point, std::move(mine), theirs, exchange);
}

void order(Exchange& exchange, BurstOrder order, Deadline deadline) {
  WireWriter writer;
  writer.put(order);
  exchange.send(FrameKind::data, writer.bytes(), deadline);
}

void obey_orders(Exchange& exchange, std::uint64_t patience_ns, const std::function<void()>& burst) {
  while (true) {
    const auto payload = receive_data(exchange, Deadline::after_ns(patience_ns));
    WireReader reader{payload};
    if (reader.get_enum(BurstOrder::end) == BurstOrder::end) return;
    burst();
  }
}

}  // namespace mtuscope
