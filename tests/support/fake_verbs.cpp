// Stand-ins for the libibverbs entry points: objects, staging and the data path. See fake_verbs.hpp.
#include "fake_verbs.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#undef ibv_reg_mr
#undef ibv_query_port

namespace {

struct FakeDevice {
  ibv_device device{};
  ibv_port_attr port{};
  ibv_device_attr attributes{};
  std::uint64_t packets = 0;
};

struct FakeChannel {
  ibv_comp_channel channel{};
  int write_end = -1;
  std::deque<ibv_cq*> events;
};

struct FakeCq {
  ibv_cq cq{};
  std::deque<ibv_wc> completions;
  bool armed = false;
};

struct PendingSend {
  ibv_send_wr request{};
  std::vector<std::byte> inlined;  // payload copied at post time
  ibv_sge entry{};
};

struct PendingReceive {
  std::uint64_t wr_id = 0;
  ibv_sge entry{};
};

struct FakeQp {
  ibv_qp qp{};
  std::uint32_t destination = 0;
  ibv_mtu path_mtu = IBV_MTU_256;
  std::deque<PendingSend> sends;
  std::deque<PendingReceive> receives;
};

struct Staged {
  int error_number = 0;
  int countdown = 0;
};

struct World {
  std::mutex mutex;
  std::vector<std::unique_ptr<FakeDevice>> devices;
  std::map<std::uint32_t, FakeQp*> qps;
  std::map<std::string, Staged> staged;
  std::map<std::string, int> call_counts;
  std::map<std::string, int> refused_destroys;
  std::set<const void*> live;
  std::uint32_t next_qp_number = 0x11;
  int list_error = 0;
  bool hold = false;
  bool corrupt = false;
  int fail_countdown = 0;
  int lose_countdown = 0;
  ibv_wc_status fail_status = IBV_WC_SUCCESS;
  std::uint32_t fail_vendor_error = 0;
  int reported_mtu = 0;
  std::uint32_t cut_mtu_bytes = 0;
  int granted_inline = -1;
  std::string sysfs_root;
};

World& world() {
  static World instance;
  return instance;
}

FakeDevice& device_of(ibv_context* context) {
  for (auto& device : world().devices) {
    if (&device->device == context->device) return *device;
  }
  std::abort();
}

FakeDevice& device_named(const std::string& name) {
  for (auto& device : world().devices) {
    if (name == device->device.name) return *device;
  }
  std::abort();
}

/// The errno this call is to fail with, 0 for none.
int staged_error(const std::string& call) {
  ++world().call_counts[call];
  const auto found = world().staged.find(call);
  if (found == world().staged.end() || --found->second.countdown > 0) return 0;
  const int error_number = found->second.error_number;
  world().staged.erase(found);
  return error_number;
}

int destroyed(const char* call, const void* object) {
  world().live.erase(object);
  const auto found = world().refused_destroys.find(call);
  return found == world().refused_destroys.end() ? 0 : found->second;
}

template <class T>
T* born(T* object) {
  world().live.insert(object);
  return object;
}

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

int post_send(ibv_qp* raw, ibv_send_wr* list, ibv_send_wr** bad) {
  const std::scoped_lock lock{world().mutex};
  auto& qp = *reinterpret_cast<FakeQp*>(raw);
  if (const int error_number = staged_error("ibv_post_send")) {
    *bad = list;
    return error_number;
  }
  for (auto* request = list; request != nullptr; request = request->next) {
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

const char* step_name(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_INIT:
      return "INIT";
    case IBV_QPS_RTR:
      return "RTR";
    case IBV_QPS_RTS:
      return "RTS";
    default:
      return "ERR";
  }
}

}  // namespace

namespace fake_verbs {

void reset() {
  auto& w = world();
  const std::scoped_lock lock{w.mutex};
  w.devices.clear();
  for (int i = 0; i < 2; ++i) {
    auto device = std::make_unique<FakeDevice>();
    std::strcpy(device->device.name, ("fake" + std::to_string(i)).c_str());
    device->port.state = IBV_PORT_ACTIVE;
    device->port.phys_state = 5;
    device->port.max_mtu = IBV_MTU_4096;
    device->port.active_mtu = IBV_MTU_4096;
    device->port.link_layer = IBV_LINK_LAYER_ETHERNET;
    device->port.gid_tbl_len = 4;
    device->port.max_msg_sz = 1U << 23U;
    device->port.active_speed = 8;
    device->port.active_width = 1;
    device->attributes.phys_port_cnt = 1;
    device->attributes.vendor_id = 0xffffff;
    device->attributes.max_qp_wr = 16384;
    device->attributes.max_qp = 1024;
    device->attributes.max_cqe = 32767;
    device->attributes.max_qp_rd_atom = 16;
    device->attributes.max_qp_init_rd_atom = 4;
    std::strcpy(device->attributes.fw_ver, "1.2.3");
    w.devices.push_back(std::move(device));
  }
  w.staged.clear();
  w.call_counts.clear();
  w.refused_destroys.clear();
  w.list_error = 0;
  w.hold = false;
  w.corrupt = false;
  w.fail_countdown = 0;
  w.lose_countdown = 0;
  w.reported_mtu = 0;
  w.cut_mtu_bytes = 0;
  w.granted_inline = -1;
  w.sysfs_root.clear();
}

ibv_port_attr& port(const std::string& device) { return device_named(device).port; }
ibv_device_attr& attributes(const std::string& device) { return device_named(device).attributes; }
void fail_device_list(int error_number) { world().list_error = error_number; }
void fail_call(const std::string& call, int error_number, int nth) { world().staged[call] = {error_number, nth}; }
int calls(const std::string& call) { return world().call_counts[call]; }
void refuse_destroy(const std::string& call, int error_number) { world().refused_destroys[call] = error_number; }
int live_objects() { return static_cast<int>(world().live.size()); }
void hold_completions() { world().hold = true; }
void fail_message(ibv_wc_status status, std::uint32_t vendor_error, int nth) {
  world().fail_status = status;
  world().fail_vendor_error = vendor_error;
  world().fail_countdown = nth;
}
void lose_message(int nth) { world().lose_countdown = nth; }
void corrupt_messages() { world().corrupt = true; }
void report_path_mtu(ibv_mtu mtu) { world().reported_mtu = mtu; }
void cut_packets_at(std::uint32_t mtu_bytes) { world().cut_mtu_bytes = mtu_bytes; }
void grant_inline(std::uint32_t bytes) { world().granted_inline = static_cast<int>(bytes); }
void count_packets_in(const std::string& sysfs_root) { world().sysfs_root = sysfs_root; }

}  // namespace fake_verbs

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  const std::scoped_lock lock{world().mutex};
  if (world().list_error != 0) {
    errno = world().list_error;
    return nullptr;
  }
  auto** list = new ibv_device*[world().devices.size() + 1];
  std::size_t i = 0;
  for (auto& device : world().devices) list[i++] = &device->device;
  list[i] = nullptr;
  if (count != nullptr) *count = static_cast<int>(i);
  return born(list);
}

void ibv_free_device_list(ibv_device** list) {
  const std::scoped_lock lock{world().mutex};
  world().live.erase(list);
  delete[] list;
}

ibv_context* ibv_open_device(ibv_device* device) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_open_device")) {
    errno = error_number;
    return nullptr;
  }
  auto* context = new ibv_context{};
  context->device = device;
  context->ops.post_send = &post_send;
  context->ops.post_recv = &post_recv;
  context->ops.poll_cq = &poll_cq;
  context->ops.req_notify_cq = &req_notify_cq;
  return born(context);
}

int ibv_close_device(ibv_context* context) {
  const std::scoped_lock lock{world().mutex};
  const int error_number = destroyed("ibv_close_device", context);
  delete context;
  errno = error_number;
  return error_number == 0 ? 0 : -1;
}

int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_query_device")) return error_number;
  *attributes = device_of(context).attributes;
  return 0;
}

int ibv_query_port(ibv_context* context, std::uint8_t, _compat_ibv_port_attr* attributes) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_query_port")) return error_number;
  *reinterpret_cast<ibv_port_attr*>(attributes) = device_of(context).port;
  return 0;
}

int ibv_query_gid(ibv_context*, std::uint8_t, int index, ibv_gid* gid) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_query_gid")) {
    errno = error_number;
    return -1;
  }
  gid->raw[15] = static_cast<std::uint8_t>(index);
  return 0;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_alloc_pd")) {
    errno = error_number;
    return nullptr;
  }
  auto* pd = new ibv_pd{};
  pd->context = context;
  return born(pd);
}

int ibv_dealloc_pd(ibv_pd* pd) {
  const std::scoped_lock lock{world().mutex};
  const int result = destroyed("ibv_dealloc_pd", pd);
  delete pd;
  return result;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_reg_mr")) {
    errno = error_number;
    return nullptr;
  }
  auto* region = new ibv_mr{};
  region->context = pd->context;
  region->pd = pd;
  region->addr = address;
  region->length = length;
  region->lkey = 7;
  region->rkey = 9;
  return born(region);
}

int ibv_dereg_mr(ibv_mr* region) {
  const std::scoped_lock lock{world().mutex};
  const int result = destroyed("ibv_dereg_mr", region);
  delete region;
  return result;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_create_comp_channel")) {
    errno = error_number;
    return nullptr;
  }
  int ends[2];
  if (pipe(ends) != 0) return nullptr;
  auto* fake = new FakeChannel{};
  fake->channel.context = context;
  fake->channel.fd = ends[0];
  fake->write_end = ends[1];
  born(static_cast<void*>(fake));
  return &fake->channel;
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  const std::scoped_lock lock{world().mutex};
  auto* fake = reinterpret_cast<FakeChannel*>(channel);
  const int result = destroyed("ibv_destroy_comp_channel", fake);
  close(fake->channel.fd);
  close(fake->write_end);
  delete fake;
  return result;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** context) {
  char byte = 0;
  if (read(channel->fd, &byte, 1) != 1) return -1;
  const std::scoped_lock lock{world().mutex};
  auto& fake = *reinterpret_cast<FakeChannel*>(channel);
  *cq = fake.events.front();
  *context = nullptr;
  fake.events.pop_front();
  ++(*cq)->comp_events_completed;  // here: taken and not yet acknowledged
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  const std::scoped_lock lock{world().mutex};
  cq->comp_events_completed -= count;
}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void*, ibv_comp_channel* channel, int) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_create_cq")) {
    errno = error_number;
    return nullptr;
  }
  auto* fake = new FakeCq{};
  fake->cq.context = context;
  fake->cq.channel = channel;
  fake->cq.cqe = entries;
  born(static_cast<void*>(fake));
  return &fake->cq;
}

int ibv_destroy_cq(ibv_cq* cq) {
  const std::scoped_lock lock{world().mutex};
  auto* fake = reinterpret_cast<FakeCq*>(cq);
  int result = destroyed("ibv_destroy_cq", fake);
  if (cq->comp_events_completed != 0) result = EBUSY;  // the real one would wait for ever
  delete fake;
  return result;
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_create_qp")) {
    errno = error_number;
    return nullptr;
  }
  auto* fake = new FakeQp{};
  fake->qp.context = pd->context;
  fake->qp.pd = pd;
  fake->qp.send_cq = attributes->send_cq;
  fake->qp.recv_cq = attributes->recv_cq;
  fake->qp.qp_type = attributes->qp_type;
  fake->qp.qp_num = world().next_qp_number++;
  if (world().granted_inline >= 0) {
    attributes->cap.max_inline_data = static_cast<std::uint32_t>(world().granted_inline);
  }
  world().qps[fake->qp.qp_num] = fake;
  born(static_cast<void*>(fake));
  return &fake->qp;
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  const std::scoped_lock lock{world().mutex};
  auto& fake = *reinterpret_cast<FakeQp*>(qp);
  if (const int error_number = staged_error(std::string{"ibv_modify_qp:"} + step_name(attributes->qp_state))) {
    return error_number;
  }
  qp->state = attributes->qp_state;
  if ((mask & IBV_QP_PATH_MTU) != 0) fake.path_mtu = attributes->path_mtu;
  if ((mask & IBV_QP_DEST_QPN) != 0) fake.destination = attributes->dest_qp_num;
  if (qp->state == IBV_QPS_ERR) flush(fake);
  return 0;
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int, ibv_qp_init_attr*) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_query_qp")) return error_number;
  attributes->path_mtu =
      world().reported_mtu != 0 ? static_cast<ibv_mtu>(world().reported_mtu) : reinterpret_cast<FakeQp*>(qp)->path_mtu;
  return 0;
}

int ibv_destroy_qp(ibv_qp* qp) {
  const std::scoped_lock lock{world().mutex};
  auto* fake = reinterpret_cast<FakeQp*>(qp);
  const int result = destroyed("ibv_destroy_qp", fake);
  world().qps.erase(qp->qp_num);
  delete fake;
  return result;
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr*) {
  const std::scoped_lock lock{world().mutex};
  if (const int error_number = staged_error("ibv_create_ah")) {
    errno = error_number;
    return nullptr;
  }
  auto* ah = new ibv_ah{};
  ah->context = pd->context;
  ah->pd = pd;
  return born(ah);
}

int ibv_destroy_ah(ibv_ah* ah) {
  const std::scoped_lock lock{world().mutex};
  const int result = destroyed("ibv_destroy_ah", ah);
  delete ah;
  return result;
}

}  // extern "C"
