#include "mtuscope/verbs/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "mtuscope/core/log.hpp"
#include "mtuscope/transport/wire.hpp"
#include "mtuscope/verbs/failure.hpp"

namespace mtuscope::verbs {
namespace {

/// Packet sequence numbers have 24 bits; where they start does not matter as long as both ends agree.
constexpr std::uint32_t kFirstPacketSequence = 0x100;
/// Flushed completions come within microseconds of the move to ERR; a device that gives none is not waited for longer.
constexpr int kFlushRounds = 50;
constexpr int kQuietFlushRounds = 5;
constexpr std::chrono::milliseconds kFlushPause{1};

}  // namespace

VerbsSession::VerbsSession(SessionSetup setup) : setup_(std::move(setup)) {
  create_queues();
  mine_ = describe_self();
  theirs_ = decode_endpoint(swap(*setup_.exchange, encode(mine_), deadline()));
  check_agreement(mine_, theirs_, *setup_.exchange);
  connect_queues();
  read_back();
  build_channel();
}

Deadline VerbsSession::deadline() const noexcept {
  return Deadline::after_ns(2 * setup_.spec.timeout_ns);  // the peer may be at its own deadline for something before
}

void VerbsSession::create_queues() {
  const auto& spec = setup_.spec;
  const auto where = device().where();
  auto& context = *device().context;
  completion_channel_ = create_completion_channel(context, where);
  send_cq_ =
      create_cq(context, static_cast<int>(send_queue_depth(spec) * spec.qp_count), completion_channel_.get(), where);
  receive_cq_ = create_cq(context, static_cast<int>(spec.rx_depth * spec.qp_count), completion_channel_.get(), where);
  const QueuePairStates states{device(), spec};
  for (std::uint32_t q = 0; q < spec.qp_count; ++q) {
    auto created = create_queue_pair(*setup_.arrangement->pd, spec, *send_cq_, *receive_cq_, where);
    inline_bytes_ = std::min(spec.inline_bytes, created.inline_bytes);
    qps_.push_back(std::move(created.qp));
    if (spec.connect_method == ConnectMethod::tcp) states.to_init(*qps_.back());
  }
  if (inline_bytes_ < spec.inline_bytes) {
    log(LogLevel::warning, where.device + " grants " + std::to_string(inline_bytes_) + " B inline, not the " +
                               std::to_string(spec.inline_bytes) + " B asked for");
  }
}

EndpointInfo VerbsSession::describe_self() {
  const auto& memory = setup_.arrangement->memory;
  EndpointInfo info;
  info.connection = setup_.spec.connection;
  info.path_mtu = *setup_.spec.path_mtu;
  info.max_message_size_bytes = setup_.spec.max_message_size_bytes;
  describe_endpoint(device(), info);
  info.send_area = reinterpret_cast<std::uintptr_t>(memory.send_area(0));
  info.receive_area = reinterpret_cast<std::uintptr_t>(memory.receive_area(0));
  info.area_stride_bytes = memory.stride_bytes();
  info.remote_key = memory.region().rkey;
  for (const auto& qp : qps_) info.qp_numbers.push_back(qp->qp_num);
  info.packet_sequence = kFirstPacketSequence;
  if (setup_.spec.connect_method == ConnectMethod::cm) {
    cm_.emplace(device(), setup_.spec, *setup_.exchange);
    if (setup_.role == Role::responder) {
      info.cm_port = cm_->listen();
      info.cm_address = cm_->address();
    }
  }
  return info;
}

void VerbsSession::connect_queues() {
  const auto reads = negotiate_reads(mine_, theirs_);
  const QueuePairStates states{device(), setup_.spec};
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    auto& qp = *qps_[q];
    if (cm_ && setup_.role == Role::responder) {
      cm_->accept(qp, reads, deadline());
    } else if (cm_) {
      cm_->connect(qp, theirs_.cm_address, theirs_.cm_port, reads, deadline());
    } else {
      const auto destination = destination_of(theirs_, q);
      states.to_rtr(qp, destination, reads);
      states.to_rts(qp, mine_.packet_sequence, reads);
    }
    if (setup_.spec.connection == Connection::ud) {
      auto attributes = states.address(destination_of(theirs_, q));
      address_handles_.push_back(create_ah(*setup_.arrangement->pd, attributes, device().where()));
    }
  }
  if (!cm_) return;
  // The initiator is done first and keeps silent until the responder is: see CmConnector.
  if (setup_.role == Role::responder) {
    setup_.exchange->send(FrameKind::data, {}, deadline());
  } else {
    (void)receive_data(*setup_.exchange, deadline());
  }
}

/// A UD queue pair has no path MTU (its attribute means nothing).
void VerbsSession::read_back() {
  if (setup_.spec.connection != Connection::ud) {
    local_read_back_ = setup_.spec.path_mtu;
    for (const auto& qp : qps_) {
      const auto mtu = read_back_path_mtu(*qp, device().where());
      if (mtu != setup_.spec.path_mtu) local_read_back_ = mtu;
    }
  }
  WireWriter writer;
  writer.put(local_read_back_ ? to_bytes(*local_read_back_) : 0U);
  const auto answer = swap(*setup_.exchange, writer.bytes(), deadline());
  WireReader reader{answer};
  remote_read_back_ = path_mtu_from_bytes(reader.get<std::uint32_t>());
  reader.expect_end();
}

void VerbsSession::build_channel() {
  const auto& spec = setup_.spec;
  const auto& memory = setup_.arrangement->memory;
  ChannelSetup setup;
  setup.connection = spec.connection;
  setup.send_cq = send_cq_.get();
  setup.receive_cq = receive_cq_.get();
  setup.completion_channel = completion_channel_.get();
  setup.rx_depth = spec.rx_depth;
  setup.post_list = spec.post_list;
  setup.cq_mod = spec.cq_mod;
  setup.inline_limit_bytes = inline_bytes_;
  setup.receive_limit_bytes =
      static_cast<std::uint32_t>(spec.connection == Connection::ud ? to_bytes(*spec.path_mtu) : memory.area_bytes());
  std::vector<ChannelQueue> queues(qps_.size());
  for (std::uint32_t q = 0; q < queues.size(); ++q) {
    auto& queue = queues[q];
    queue.qp = qps_[q].get();
    queue.address_handle = address_handles_.empty() ? nullptr : address_handles_[q].get();
    queue.remote_qp_number = theirs_.qp_numbers[q];
    queue.send_area = memory.send_area(q);
    queue.receive_area = memory.receive_area(q);
    queue.remote_send_area = theirs_.send_area + q * theirs_.area_stride_bytes;
    queue.remote_receive_area = theirs_.receive_area + q * theirs_.area_stride_bytes;
    queue.local_key = memory.region().lkey;
    queue.remote_key = theirs_.remote_key;
  }
  channel_ = std::make_unique<VerbsChannel>(setup, queues);
}

PayloadKey VerbsSession::payload_key(const Point& point, bool from_initiator) const noexcept {
  return {setup_.index, wire_size_bytes(point), from_initiator, point.segmented ? to_bytes(*setup_.spec.path_mtu) : 0};
}

void VerbsSession::prepare(const TrialRequest& request) {
  if (!usable_) throw RunError("the session failed before and must be opened anew");
  const auto& point = request.point;
  const auto size = wire_size_bytes(point);
  ChannelJob job;
  job.operation = point.operation;
  job.message_size_bytes = size;
  job.datagram_limit_bytes = point.segmented ? to_bytes(*setup_.spec.path_mtu) : 0;
  job.credits = uses_credits(point, setup_.spec);
  if (point.pattern == Pattern::stream) {  // one end waits for room to send, the other for messages
    job.awaits_sends = setup_.role == Role::initiator;
    job.awaits_receives = setup_.role == Role::responder || job.credits;
  }
  const auto& memory = setup_.arrangement->memory;
  if (size == 0 || size > memory.area_bytes()) {
    throw RunError("a message of " + std::to_string(size) + " B does not fit the registered areas of " +
                   std::to_string(memory.area_bytes()) + " B");
  }
  if (request.verify_payload) {
    for (std::uint32_t q = 0; q < setup_.spec.qp_count; ++q) {
      fill_payload({memory.send_area(q), size}, payload_key(point, setup_.role == Role::initiator));
      std::memset(memory.receive_area(q), 0, size);
    }
  }
  channel_->configure(job);
  size_room(room_, request, setup_.spec);
  if (point.operation == Operation::send && !channel_->top_up_receives()) {
    usable_ = false;
    throw VerbsError("ibv_post_recv", device().where(), channel_->refused_with());
  }
  if (setup_.spec.wait_mode == WaitMode::event && !is_passive(point, setup_.role)) channel_->start_waiting();
}

EndReading VerbsSession::execute(const TrialRequest& request, Watch& watch) {
  auto reading = run_kernel({*channel_, setup_.spec, setup_.role, room_}, request, watch);
  channel_->stop_waiting();
  const bool silence_is_loss = reading.status == KernelStatus::peer_finished && counts_arrivals(request.point) &&
                               request.point.pattern != Pattern::ping_pong;
  if (reading.status == KernelStatus::ok || silence_is_loss) return reading;
  usable_ = false;
  const auto flushed = give_up();
  reading.reason = device().info.name + " port " + std::to_string(device().port) + ", " + describe(request.point) +
                   ": " + describe_failure(reading.status, *channel_, flushed);
  return reading;
}

std::uint64_t VerbsSession::give_up() noexcept {
  for (const auto& qp : qps_) to_error(*qp);
  std::uint64_t flushed = 0;
  int quiet = 0;
  for (int round = 0; round < kFlushRounds && quiet < kQuietFlushRounds; ++round) {
    const auto found = channel_->drain();
    flushed += found;
    quiet = found == 0 ? quiet + 1 : 0;
    if (found == 0) std::this_thread::sleep_for(kFlushPause);
  }
  return flushed;
}

TrialReading VerbsSession::run(const TrialRequest& request, Watch& watch) {
  auto reading = run_two_ended(*this, request, *setup_.exchange, watch, setup_.spec.timeout_ns);
  if (setup_.role == Role::initiator && reading.status != TrialStatus::ok) usable_ = false;
  if (request.verify_payload) verify(request, reading);
  return reading;
}

}  // namespace mtuscope::verbs
