#include "mtuscope/verbs/channel.hpp"

#include <cerrno>

namespace mtuscope::verbs {
namespace {

/// Completion events are acknowledged in batches, as each acknowledgement takes a lock (ibv_ack_cq_events manual page).
constexpr unsigned kAcknowledgeBatch = 64;

ibv_wr_opcode opcode_of(const ChannelJob& job) noexcept {
  switch (job.operation) {
    case Operation::send:
      return job.credits ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    case Operation::write:
      return IBV_WR_RDMA_WRITE;
    case Operation::read:
      return IBV_WR_RDMA_READ;
  }
  return IBV_WR_SEND;
}

void acknowledge(ibv_cq* cq, unsigned& count) noexcept {
  if (count > 0) ibv_ack_cq_events(cq, count);
  count = 0;
}

}  // namespace

VerbsChannel::VerbsChannel(const ChannelSetup& setup, std::span<const ChannelQueue> queues) : setup_(setup) {
  queues_.resize(queues.size());
  header_bytes_ = setup.connection == Connection::ud ? kGrhBytes : 0;
  for (std::size_t q = 0; q < queues.size(); ++q) {
    auto& queue = queues_[q];
    queue.fixed = queues[q];
    queue.sends.resize(setup.post_list);
    queue.send_entries.resize(setup.post_list);
    queue.receives.resize(kReceiveChain);
    build_receives(queue, q);
  }
}

VerbsChannel::~VerbsChannel() {
  // ibv_destroy_cq waits for every event that was taken but not acknowledged.
  acknowledge(setup_.send_cq, unacknowledged_send_);
  acknowledge(setup_.receive_cq, unacknowledged_receive_);
}

void VerbsChannel::configure(const ChannelJob& job) {
  job_ = job;
  epoch_ = (epoch_ + 1) & kEpochMask;
  const bool segmented = job.datagram_limit_bytes != 0 && job.message_size_bytes > job.datagram_limit_bytes;
  segments_ = 1;
  if (segmented) {
    segments_ = static_cast<std::uint32_t>((job.message_size_bytes - 1) / job.datagram_limit_bytes + 1);
    tail_bytes_ =
        static_cast<std::uint32_t>(job.message_size_bytes - std::uint64_t{segments_ - 1} * job.datagram_limit_bytes);
  }
  const auto largest = segmented ? job.datagram_limit_bytes : job.message_size_bytes;
  const bool fits_inline = job.operation != Operation::read && largest <= setup_.inline_limit_bytes;
  flags_ = fits_inline ? static_cast<unsigned>(IBV_SEND_INLINE) : 0U;
  for (auto& queue : queues_) build_sends(queue);
  (void)drain();
  error_ = {};
  refused_with_ = 0;
  received_bytes_ = 0;
  if (queues_.empty()) return;
  stamp_out_ = queues_.front().fixed.send_area + job.message_size_bytes - 1;
  stamp_in_ = queues_.front().fixed.receive_area + job.message_size_bytes - 1;
  if (job.operation == Operation::write) *stamp_in_ = std::byte{0};
}

void VerbsChannel::address(ibv_send_wr& request, const Queue& queue) const noexcept {
  if (setup_.connection == Connection::ud) {
    request.wr.ud.ah = queue.fixed.address_handle;
    request.wr.ud.remote_qpn = queue.fixed.remote_qp_number;
    request.wr.ud.remote_qkey = kQueueKey;
  } else if (job_.operation != Operation::send) {
    request.wr.rdma.remote_addr =
        job_.operation == Operation::read ? queue.fixed.remote_send_area : queue.fixed.remote_receive_area;
    request.wr.rdma.rkey = queue.fixed.remote_key;
  }
}

void VerbsChannel::build_sends(Queue& queue) const {
  const auto* const area = job_.operation == Operation::read ? queue.fixed.receive_area : queue.fixed.send_area;
  for (std::size_t i = 0; i < queue.sends.size(); ++i) {
    queue.send_entries[i] = {reinterpret_cast<std::uintptr_t>(area),
                             static_cast<std::uint32_t>(job_.message_size_bytes), queue.fixed.local_key};
    auto& request = queue.sends[i];
    request = {};
    request.next = i + 1 < queue.sends.size() ? &queue.sends[i + 1] : nullptr;
    request.sg_list = &queue.send_entries[i];
    request.num_sge = 1;
    request.opcode = opcode_of(job_);
    address(request, queue);
  }
  queue.credit = {};
  queue.credit.opcode = IBV_WR_SEND_WITH_IMM;
  queue.credit.send_flags = IBV_SEND_SIGNALED;
  address(queue.credit, queue);
  queue.since_signal = 0;
  queue.sequence = 0;
  queue.last_sequence = 0;
  queue.last_credit = 0;
  queue.segment = 0;
}

void VerbsChannel::build_receives(Queue& queue, std::uint64_t q) const {
  queue.receive_entry = {reinterpret_cast<std::uintptr_t>(queue.fixed.receive_area) - header_bytes_,
                         setup_.receive_limit_bytes + header_bytes_, queue.fixed.local_key};
  for (std::size_t i = 0; i < queue.receives.size(); ++i) {
    auto& request = queue.receives[i];
    request.wr_id = q;
    request.next = i + 1 < queue.receives.size() ? &queue.receives[i + 1] : nullptr;
    request.sg_list = &queue.receive_entry;
    request.num_sge = 1;
  }
}

bool VerbsChannel::top_up_receives() noexcept {
  for (std::uint32_t q = 0; q < queues_.size(); ++q) {
    const auto posted = queues_[q].receives_posted;
    if (posted < setup_.rx_depth && !post_receives(q, setup_.rx_depth - posted)) return false;
  }
  return true;
}

std::uint64_t VerbsChannel::drain() noexcept {
  std::uint64_t total = 0;
  for (auto* const cq : {setup_.send_cq, setup_.receive_cq}) {
    for (int found = poll(cq, kPollBatch); found > 0; found = poll(cq, kPollBatch)) {
      for (int i = 0; i < found; ++i) {
        const auto& done = completions_[static_cast<std::size_t>(i)];
        if (cq == setup_.receive_cq) --queues_[static_cast<std::uint32_t>(done.wr_id)].receives_posted;
        if (done.status != IBV_WC_SUCCESS) (void)fail(done, cq == setup_.send_cq);
      }
      total += static_cast<std::uint64_t>(found);
    }
  }
  return total;
}

int VerbsChannel::fail(const ibv_wc& done, bool sending) noexcept {
  const bool have_real = error_.status != IBV_WC_SUCCESS && error_.status != IBV_WC_WR_FLUSH_ERR;
  if (!have_real && (error_.status == IBV_WC_SUCCESS || done.status != IBV_WC_WR_FLUSH_ERR)) {
    error_ = {done.status, done.vendor_err, done.qp_num, sending};
  }
  return kPollFailed;
}

bool VerbsChannel::refuse(int error) noexcept {
  refused_with_ = error;
  return false;
}

bool VerbsChannel::arm() noexcept {
  if (job_.awaits_sends && ibv_req_notify_cq(setup_.send_cq, 0) != 0) return false;
  return !job_.awaits_receives || ibv_req_notify_cq(setup_.receive_cq, 0) == 0;
}

int VerbsChannel::wait_event(int /*timeout_ms: the waiter's tick is as short*/) noexcept {
  const auto* const cq = waiter_->wait();
  if (cq == nullptr) return errno == EINTR ? 0 : -1;
  const bool sending = cq == setup_.send_cq;
  auto& pending = sending ? unacknowledged_send_ : unacknowledged_receive_;
  if (++pending >= kAcknowledgeBatch) acknowledge(sending ? setup_.send_cq : setup_.receive_cq, pending);
  return 1;
}

}  // namespace mtuscope::verbs
