// What the fake devices do with work requests. See fake_verbs.hpp.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "fake_world.hpp"

namespace fake_world {
namespace {

void push(ibv_cq* cq, const ibv_wc& completion) {
  auto& fake = *reinterpret_cast<FakeCq*>(cq);
  fake.completions.push_back(completion);
  if (!fake.armed || cq->channel == nullptr) return;
  fake.armed = false;
  auto& channel = *reinterpret_cast<FakeChannel*>(cq->channel);
  channel.events.push_back(cq);
  const char byte = 0;
  if (write(channel.write_end, &byte, 1) != 1) std::abort();
}

ibv_wc completion_of(const FakeQp& qp, std::uint64_t wr_id, ibv_wc_status status) {
  ibv_wc completion{};
  completion.wr_id = wr_id;
  completion.status = status;
  completion.qp_num = qp.qp.qp_num;
  return completion;
}

/// Copies a payload; its last byte last and visibly, as a device does.
void deliver(std::byte* target, const std::byte* source, std::size_t size) {
  if (size == 0) return;
  std::memcpy(target, source, size - 1);
  std::atomic_ref<std::byte>{target[size - 1]}.store(source[size - 1], std::memory_order_release);
  if (world().corrupt) target[0] = ~target[0];
}

void count_packets(FakeQp& qp, std::size_t size) {
  auto& device = device_of(qp.qp.context);
  const std::size_t mtu = world().cut_mtu_bytes != 0    ? world().cut_mtu_bytes
                          : qp.qp.qp_type == IBV_QPT_UD ? 4096U
                                                        : 128U << static_cast<unsigned>(qp.path_mtu);
  device.packets += size == 0 ? 1 : (size - 1) / mtu + 1;
  if (world().sysfs_root.empty()) return;
  std::ofstream{world().sysfs_root + "/class/infiniband/" + device.device.name + "/ports/1/hw_counters/sent_pkts"}
      << device.packets << "\n";
}

/// Whether the message left the queue; false: it waits for a receive (RC).
bool carry_out(FakeQp& qp, const PendingSend& send) {
  const auto& request = send.request;
  const bool sends = request.opcode == IBV_WR_SEND || request.opcode == IBV_WR_SEND_WITH_IMM;
  const auto* const payload = send.inlined.data();
  const std::size_t size = send.inlined.size();
  if (request.opcode == IBV_WR_RDMA_WRITE) {
    deliver(reinterpret_cast<std::byte*>(request.wr.rdma.remote_addr), payload, size);
  } else if (request.opcode == IBV_WR_RDMA_READ) {
    deliver(reinterpret_cast<std::byte*>(send.entry.addr),
            reinterpret_cast<const std::byte*>(request.wr.rdma.remote_addr), send.entry.length);
  }
  const bool lost = sends && world().lose_countdown > 0 && --world().lose_countdown == 0;
  const bool datagram = qp.qp.qp_type == IBV_QPT_UD;
  if (sends && !lost) {
    const auto peer = world().qps.find(datagram ? request.wr.ud.remote_qpn : qp.destination);
    const bool reachable = peer != world().qps.end() && peer->second->qp.state != IBV_QPS_ERR;
    if (!reachable || peer->second->receives.empty()) {
      if (qp.qp.qp_type == IBV_QPT_RC) return false;
    } else {
      auto& target = *peer->second;
      const auto receive = target.receives.front();
      target.receives.pop_front();
      const std::size_t header = datagram ? 40 : 0;
      auto status = size + header > receive.entry.length ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
      if (status == IBV_WC_SUCCESS) deliver(reinterpret_cast<std::byte*>(receive.entry.addr) + header, payload, size);
      auto completion = completion_of(target, receive.wr_id, status);
      completion.opcode = IBV_WC_RECV;
      completion.byte_len = static_cast<std::uint32_t>(size + header);
      completion.imm_data = request.imm_data;
      completion.wc_flags = request.opcode == IBV_WR_SEND_WITH_IMM ? static_cast<unsigned>(IBV_WC_WITH_IMM) : 0U;
      push(target.qp.recv_cq, completion);
    }
  }
  count_packets(qp, size);
  return true;
}

void progress(FakeQp& qp) {
  while (!qp.sends.empty() && !world().hold) {
    const auto send = qp.sends.front();
    if (world().fail_countdown > 0 && --world().fail_countdown == 0) {
      auto completion = completion_of(qp, send.request.wr_id, world().fail_status);
      completion.vendor_err = world().fail_vendor_error;
      qp.sends.pop_front();
      push(qp.qp.send_cq, completion);
      qp.qp.state = IBV_QPS_ERR;
      flush(qp);
      return;
    }
    if (!carry_out(qp, send)) return;
    qp.sends.pop_front();
    if ((send.request.send_flags & IBV_SEND_SIGNALED) != 0) {
      push(qp.qp.send_cq, completion_of(qp, send.request.wr_id, IBV_WC_SUCCESS));
    }
  }
}

}  // namespace

void flush(FakeQp& qp) {
  for (const auto& send : qp.sends) {
    push(qp.qp.send_cq, completion_of(qp, send.request.wr_id, IBV_WC_WR_FLUSH_ERR));
  }
  for (const auto& receive : qp.receives) {
    push(qp.qp.recv_cq, completion_of(qp, receive.wr_id, IBV_WC_WR_FLUSH_ERR));
  }
  qp.sends.clear();
  qp.receives.clear();
}

int post_send(ibv_qp* raw, ibv_send_wr* list, ibv_send_wr** bad) {
  const std::scoped_lock lock{world().mutex};
  auto& qp = *reinterpret_cast<FakeQp*>(raw);
  if (const int error_number = staged_error("ibv_post_send")) {
    *bad = list;
    return error_number;
  }
  for (auto* request = list; request != nullptr; request = request->next) {
    if ((request->send_flags & IBV_SEND_INLINE) != 0) {
      ++world().call_counts["IBV_SEND_INLINE"];
      if (request->num_sge > 0 && request->sg_list[0].length > qp.inline_bytes) {
        *bad = request;
        return EINVAL;
      }
    }
    PendingSend send;
    send.request = *request;
    if (request->num_sge > 0) {
      send.entry = request->sg_list[0];
      const auto* const data = reinterpret_cast<const std::byte*>(send.entry.addr);
      if (request->opcode != IBV_WR_RDMA_READ) send.inlined.assign(data, data + send.entry.length);
    }
    qp.sends.push_back(std::move(send));
  }
  if (qp.qp.state == IBV_QPS_ERR) flush(qp);
  progress(qp);
  return 0;
}

int post_recv(ibv_qp* raw, ibv_recv_wr* list, ibv_recv_wr** bad) {
  const std::scoped_lock lock{world().mutex};
  auto& qp = *reinterpret_cast<FakeQp*>(raw);
  if (const int error_number = staged_error("ibv_post_recv")) {
    *bad = list;
    return error_number;
  }
  for (auto* request = list; request != nullptr; request = request->next) {
    qp.receives.push_back({request->wr_id, request->sg_list[0]});
  }
  if (qp.qp.state == IBV_QPS_ERR) flush(qp);
  const auto sender = world().qps.find(qp.destination);
  if (sender != world().qps.end()) progress(*sender->second);
  return 0;
}

int poll_cq(ibv_cq* raw, int room, ibv_wc* out) {
  const std::scoped_lock lock{world().mutex};
  auto& cq = *reinterpret_cast<FakeCq*>(raw);
  int found = 0;
  for (; found < room && !cq.completions.empty(); ++found) {
    out[found] = cq.completions.front();
    cq.completions.pop_front();
  }
  return found;
}

int req_notify_cq(ibv_cq* raw, int) {
  const std::scoped_lock lock{world().mutex};
  reinterpret_cast<FakeCq*>(raw)->armed = true;
  return 0;
}

}  // namespace fake_world
