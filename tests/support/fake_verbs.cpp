// The libibverbs entry points that make, change and destroy objects. See fake_verbs.hpp.
#include "fake_verbs.hpp"

#include <unistd.h>

#include <cerrno>

#include "fake_world.hpp"

#undef ibv_reg_mr
#undef ibv_query_port

namespace {

using namespace fake_world;

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
  fake->inline_bytes = attributes->cap.max_inline_data;
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
