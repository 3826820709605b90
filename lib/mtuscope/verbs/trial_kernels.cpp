#include "mtuscope/verbs/trial_kernels.hpp"

#include <memory>
#include <span>
#include <utility>

#include "mtuscope/transport/ping_pong_kernel.hpp"
#include "mtuscope/transport/slices.hpp"

namespace mtuscope::verbs {
namespace {

/// What the arms of the switches below share.
struct Task {
  const KernelRun& run;
  const TrialRequest& request;
  Watch& watch;
};

WaitMode wait_mode_of(const Task& task) noexcept { return task.run.spec.wait_mode; }

EndReading to_reading(const Task& task, const StreamResult& result) {
  const auto& channel = task.run.channel;
  EndReading reading;
  reading.status = result.status;
  reading.sent = result.sent / channel.segments();
  reading.received =
      channel.segments() == 1 ? result.received : channel.received_bytes() / task.request.point.message_size_bytes;
  if (result.sent_ns > result.begin_ns) reading.send_elapsed_ns = result.sent_ns - result.begin_ns;
  if (result.last_received_ns > result.first_received_ns) {
    reading.receive_elapsed_ns = result.last_received_ns - result.first_received_ns;
  }
  reading.min_slice_bytes_per_s = slowest_slice(std::span{task.run.room.slice_ends_ns}.first(result.slices),
                                                task.request.slice_messages * wire_size_bytes(task.request.point));
  return reading;
}

template <WaitMode W, StreamRole R>
EndReading stream_with(const Task& task) {
  const auto& spec = task.run.spec;
  const auto segments = task.run.channel.segments();
  const StreamJob job{task.request.messages * segments, spec.tx_depth, spec.rx_depth, spec.post_list,
                      task.request.slice_messages * segments};
  const MonotonicClock clock;
  const auto result = run_stream<W, R>(task.run.channel, clock, job,
                                       StreamScratch{task.run.room.qps, task.run.room.slice_ends_ns}, task.watch);
  return to_reading(task, result);
}

template <WaitMode W>
EndReading stream(const Task& task) {
  const auto& point = task.request.point;
  const bool both = point.pattern == Pattern::bidirectional;
  const bool initiates = task.run.role == Role::initiator;
  if (point.operation != Operation::send) return stream_with<W, StreamRole{true, false, false}>(task);
  const bool credits = uses_credits(point, task.run.spec);
  if (both) {
    return credits ? stream_with<W, StreamRole{true, true, true}>(task)
                   : stream_with<W, StreamRole{true, true, false}>(task);
  }
  if (initiates) {
    return credits ? stream_with<W, StreamRole{true, false, true}>(task)
                   : stream_with<W, StreamRole{true, false, false}>(task);
  }
  return credits ? stream_with<W, StreamRole{false, true, true}>(task)
                 : stream_with<W, StreamRole{false, true, false}>(task);
}

template <WaitMode W, PingPongKind P>
EndReading ping_pong_with(const Task& task) {
  const MonotonicClock clock;
  auto histogram = std::make_shared<LatencyHistogram>();
  PingPongKernel<W, P, VerbsChannel, MonotonicClock> kernel{task.run.channel, clock, task.request.messages,
                                                            task.run.spec.tx_depth, task.watch};
  const auto result = task.run.role == Role::initiator ? kernel.initiate(*histogram) : kernel.respond();
  EndReading reading;
  reading.status = result.status;
  reading.sent = result.round_trips;
  reading.received = result.round_trips;
  reading.send_elapsed_ns = result.elapsed_ns;
  if (task.run.role == Role::initiator) reading.latency = std::move(histogram);
  return reading;
}

template <WaitMode W>
EndReading ping_pong(const Task& task) {
  switch (task.request.point.operation) {
    case Operation::send:
      return ping_pong_with<W, PingPongKind::send>(task);
    case Operation::write:
      return ping_pong_with<W, PingPongKind::write>(task);
    case Operation::read:
      return ping_pong_with<W, PingPongKind::read>(task);
  }
  return {};
}

template <WaitMode W>
EndReading run_with(const Task& task) {
  return task.request.point.pattern == Pattern::ping_pong ? ping_pong<W>(task) : stream<W>(task);
}

}  // namespace

bool is_passive(const Point& point, Role role) noexcept {
  return role == Role::responder && responder_is_passive(point);
}

bool uses_credits(const Point& point, const SessionSpec& spec) noexcept {
  return spec.flow_control && counts_arrivals(point) && point.pattern != Pattern::ping_pong;
}

void size_room(KernelRoom& room, const TrialRequest& request, const SessionSpec& spec) {
  room.qps.assign(spec.qp_count, {});
  const auto slices = request.slice_messages == 0 ? 0 : request.messages / request.slice_messages;
  room.slice_ends_ns.assign(slices, 0);
}

EndReading run_kernel(const KernelRun& run, const TrialRequest& request, Watch& watch) {
  if (is_passive(request.point, run.role)) return {};
  const Task task{run, request, watch};
  switch (wait_mode_of(task)) {
    case WaitMode::spin:
      return run_with<WaitMode::spin>(task);
    case WaitMode::yield:
      return run_with<WaitMode::yield>(task);
    case WaitMode::event:
      return run_with<WaitMode::event>(task);
  }
  return {};
}

}  // namespace mtuscope::verbs
