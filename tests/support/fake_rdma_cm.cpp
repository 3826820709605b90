// A librdmacm of its own beside the fake libibverbs: every call is answered at once, through events. The address
// 10.0.0.N belongs to device fake(N-1).
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "fake_verbs.hpp"
#include "fake_world.hpp"

namespace {

using namespace fake_world;

struct FakeEventChannel {
  rdma_event_channel channel{};
  int write_end = -1;
  std::deque<rdma_cm_event> events;
};

struct FakeId {
  rdma_cm_id id{};
  ibv_context context{};
  FakeId* peer = nullptr;
  std::uint32_t qp_number = 0;
  bool established = false;
};

/// Listening identifiers by port, and the events that wait to be overtaken.
struct Network {
  std::map<std::uint16_t, FakeId*> listeners;
  std::uint16_t next_port = 20000;
  FakeId* overtaken = nullptr;
};

Network& network() {
  static Network instance;
  return instance;
}

FakeId& of(rdma_cm_id* id) { return *reinterpret_cast<FakeId*>(id); }

void notify(FakeId& target, rdma_cm_event_type type, FakeId* listener = nullptr) {
  auto& channel = *reinterpret_cast<FakeEventChannel*>(target.id.channel);
  rdma_cm_event event{};
  event.id = &target.id;
  event.listen_id = listener == nullptr ? nullptr : &listener->id;
  event.event = type;
  channel.events.push_back(event);
  const char byte = 0;
  if (write(channel.write_end, &byte, 1) != 1) std::abort();
}

/// -1 with errno set if this call is to fail.
int staged(const char* call) {
  const int error_number = staged_error(call);
  if (error_number == 0) return 0;
  errno = error_number;
  return -1;
}

void take_device_of(FakeId& fake, const sockaddr* address) {
  const auto& ipv4 = *reinterpret_cast<const sockaddr_in*>(address);
  const auto number = (ntohl(ipv4.sin_addr.s_addr) & 0xffU) - 1;
  fake.context.device = &device_named("fake" + std::to_string(number)).device;
  fake.id.verbs = &fake.context;
  fake.id.port_num = 1;
}

rdma_cm_id* new_id(rdma_event_channel* channel) {
  auto* fake = new FakeId{};
  fake->id.channel = channel;
  born(static_cast<void*>(fake));
  return &fake->id;
}

}  // namespace

extern "C" {

rdma_event_channel* rdma_create_event_channel() {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_create_event_channel") != 0) return nullptr;
  int ends[2];
  if (pipe(ends) != 0) return nullptr;
  auto* fake = new FakeEventChannel{};
  fake->channel.fd = ends[0];
  fake->write_end = ends[1];
  born(static_cast<void*>(fake));
  return &fake->channel;
}

void rdma_destroy_event_channel(rdma_event_channel* channel) {
  const std::scoped_lock lock{world().mutex};
  auto* fake = reinterpret_cast<FakeEventChannel*>(channel);
  (void)destroyed("rdma_destroy_event_channel", fake);
  close(fake->channel.fd);
  close(fake->write_end);
  delete fake;
}

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void*, rdma_port_space) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_create_id") != 0) return -1;
  *id = new_id(channel);
  return 0;
}

/// A peer still connecting sees a rejection, a connected one the end.
int rdma_destroy_id(rdma_cm_id* id) {
  const std::scoped_lock lock{world().mutex};
  auto& fake = of(id);
  std::erase_if(network().listeners, [&](const auto& entry) { return entry.second == &fake; });
  if (network().overtaken == &fake) network().overtaken = nullptr;
  if (fake.peer != nullptr) {
    fake.peer->peer = nullptr;
    notify(*fake.peer, fake.established ? RDMA_CM_EVENT_DISCONNECTED : RDMA_CM_EVENT_REJECTED);
  }
  const int result = destroyed("rdma_destroy_id", &fake);
  delete &fake;
  return result;
}

int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  char byte = 0;
  if (read(channel->fd, &byte, 1) != 1) return -1;
  const std::scoped_lock lock{world().mutex};
  auto& fake = *reinterpret_cast<FakeEventChannel*>(channel);
  *event = new rdma_cm_event{fake.events.front()};
  fake.events.pop_front();
  born(*event);
  return 0;
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  const std::scoped_lock lock{world().mutex};
  const int result = destroyed("rdma_ack_cm_event", event);
  delete event;
  return result;
}

int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_bind_addr") != 0) return -1;
  std::memcpy(&id->route.addr.src_addr, address, sizeof(sockaddr_in));
  take_device_of(of(id), address);
  return 0;
}

int rdma_listen(rdma_cm_id* id, int) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_listen") != 0) return -1;
  const auto port = network().next_port++;
  network().listeners[port] = &of(id);
  id->route.addr.src_sin.sin_port = htons(port);
  return 0;
}

int rdma_resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_resolve_addr") != 0) return -1;
  std::memcpy(&id->route.addr.dst_addr, destination, sizeof(sockaddr_in));
  take_device_of(of(id), source);
  notify(of(id), RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}

int rdma_resolve_route(rdma_cm_id* id, int) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_resolve_route") != 0) return -1;
  notify(of(id), RDMA_CM_EVENT_ROUTE_RESOLVED);
  return 0;
}

/// The route's path MTU is 4096.
int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attributes, int* mask) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_init_qp_attr") != 0) return -1;
  *mask = IBV_QP_STATE;
  if (attributes->qp_state != IBV_QPS_RTR) return 0;
  attributes->path_mtu = IBV_MTU_4096;
  attributes->dest_qp_num = of(id).peer == nullptr ? 0 : of(id).peer->qp_number;
  *mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  return 0;
}

int rdma_connect(rdma_cm_id* id, rdma_conn_param* parameter) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_connect") != 0) return -1;
  auto& fake = of(id);
  const auto listener = network().listeners.find(ntohs(id->route.addr.dst_sin.sin_port));
  if (listener == network().listeners.end()) {
    notify(fake, RDMA_CM_EVENT_REJECTED);
    return 0;
  }
  auto& passive = of(new_id(listener->second->id.channel));
  take_device_of(passive, &listener->second->id.route.addr.src_addr);
  fake.qp_number = parameter->qp_num;
  fake.peer = &passive;
  passive.peer = &fake;
  notify(passive, RDMA_CM_EVENT_CONNECT_REQUEST, listener->second);
  if (network().overtaken != nullptr) notify(*network().overtaken, RDMA_CM_EVENT_ESTABLISHED);
  network().overtaken = nullptr;
  return 0;
}

int rdma_accept(rdma_cm_id* id, rdma_conn_param* parameter) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_accept") != 0) return -1;
  of(id).qp_number = parameter->qp_num;
  if (of(id).peer != nullptr) notify(*of(id).peer, RDMA_CM_EVENT_CONNECT_RESPONSE);
  return 0;
}

int rdma_establish(rdma_cm_id* id) {
  const std::scoped_lock lock{world().mutex};
  if (staged("rdma_establish") != 0) return -1;
  auto& fake = of(id);
  fake.established = true;
  if (fake.peer == nullptr) return 0;
  fake.peer->established = true;
  if (world().overtake_established) {
    world().overtake_established = false;
    network().overtaken = fake.peer;
  } else {
    notify(*fake.peer, RDMA_CM_EVENT_ESTABLISHED);
  }
  return 0;
}

}  // extern "C"
