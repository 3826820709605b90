#include "mtuscope/verbs/connect/cm.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "mtuscope/verbs/device/gid_choice.hpp"

namespace mtuscope::verbs {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
  void operator()(ifaddrs* list) const noexcept { freeifaddrs(list); }
};

/// A numeric address with a port.
std::unique_ptr<addrinfo, FreeAddresses> to_socket_address(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &list)) {
    throw RunError("'" + address + "' is no IP address for librdmacm: " + gai_strerror(error));
  }
  return std::unique_ptr<addrinfo, FreeAddresses>{list};
}

std::string interface_address(const std::string& name) {
  ifaddrs* raw = nullptr;
  if (getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, FreeAddresses> list{raw};
  for (const auto* entry = raw; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET || name != entry->ifa_name) continue;
    std::string text(NI_MAXHOST, '\0');
    if (getnameinfo(entry->ifa_addr, sizeof(sockaddr_in), text.data(), NI_MAXHOST, nullptr, 0, NI_NUMERICHOST) == 0) {
      return text.c_str();
    }
  }
  return {};
}

/// How long a wait for librdmacm's next event goes on before the peer's own words are looked for.
constexpr int kSliceMs = 20;
/// A peer that fails takes its connections down first and gives the reason right after.
constexpr int kReasonPatienceMs = 1000;

int left_ms(Deadline deadline) noexcept { return std::max(1, deadline.left_ms()); }

}  // namespace

void CmConnector::AckEvent::operator()(rdma_cm_event* event) const noexcept {
  errno = 0;
  if (rdma_ack_cm_event(event) != 0) report_failed_destroy("rdma_ack_cm_event", errno);
}

std::string cm_address_of(const OpenDevice& device) {
  const auto& port = device.port_info();
  const auto first = [&](auto fits) {
    const auto gid = std::find_if(port.gids.begin(), port.gids.end(),
                                  [&](const GidInfo& info) { return is_ipv4_mapped(info.gid) && fits(info); });
    return gid == port.gids.end() ? std::string{} : ipv4_of(gid->gid);
  };
  const auto chosen = std::find_if(port.gids.begin(), port.gids.end(),
                                   [&](const GidInfo& info) { return info.index == device.gid_index; });
  const auto netdev = chosen == port.gids.end() ? std::string{} : chosen->netdev;
  auto address = first([&](const GidInfo& info) { return info.index == device.gid_index; });
  if (address.empty()) address = first([&](const GidInfo& info) { return info.netdev == netdev; });
  if (address.empty()) address = first([](const GidInfo&) { return true; });
  if (address.empty() && !port.netdev.empty()) address = interface_address(port.netdev);
  if (address.empty()) {
    throw RunError("--connect cm needs an IPv4 address on " + device.info.name + " port " +
                   std::to_string(device.port) + ": give its network interface" +
                   (port.netdev.empty() ? "" : " " + port.netdev) + " one, or use --connect tcp");
  }
  return address;
}

CmConnector::CmConnector(const OpenDevice& device, const SessionSpec& spec, Exchange& exchange)
    : device_(&device), spec_(&spec), exchange_(&exchange), local_address_(cm_address_of(device)) {
  events_ = create_event_channel(device.where());
  const int flags = fcntl(events_->fd, F_GETFL);
  if (flags < 0 || fcntl(events_->fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    throw VerbsError("fcntl (rdma event channel)", device.where(), errno);
  }
}

std::uint16_t CmConnector::listen() {
  listener_ = create_cm_id(*events_, device_->where());
  const auto address = to_socket_address(local_address_, 0);
  errno = 0;
  if (rdma_bind_addr(listener_.get(), address->ai_addr) != 0) {
    throw VerbsError("rdma_bind_addr to " + local_address_, device_->where(), errno);
  }
  errno = 0;
  if (rdma_listen(listener_.get(), static_cast<int>(spec_->qp_count)) != 0) {
    throw VerbsError("rdma_listen", device_->where(), errno);
  }
  return ntohs(rdma_get_src_port(listener_.get()));
}

void CmConnector::accept(ibv_qp& qp, ReadDepth reads, Deadline deadline) {
  ids_.push_back(next_request(deadline));
  auto& id = *ids_.back();
  check_device(id);
  modify(id, qp, IBV_QPS_INIT, reads);
  modify(id, qp, IBV_QPS_RTR, reads);
  modify(id, qp, IBV_QPS_RTS, reads);
  auto parameter = parameters(qp, reads);
  errno = 0;
  if (rdma_accept(&id, &parameter) != 0) throw VerbsError("rdma_accept", device_->where(), errno);
  await_established(deadline);
}

void CmConnector::connect(ibv_qp& qp, const std::string& address, std::uint16_t port, ReadDepth reads,
                          Deadline deadline) {
  ids_.push_back(create_cm_id(*events_, device_->where()));
  auto& id = *ids_.back();
  resolve_address(id, address, port, deadline);
  check_device(id);
  errno = 0;
  if (rdma_resolve_route(&id, left_ms(deadline)) != 0) {
    throw VerbsError("rdma_resolve_route", device_->where(), errno);
  }
  await(RDMA_CM_EVENT_ROUTE_RESOLVED, deadline);
  modify(id, qp, IBV_QPS_INIT, reads);
  auto parameter = parameters(qp, reads);
  errno = 0;
  if (rdma_connect(&id, &parameter) != 0) throw VerbsError("rdma_connect", device_->where(), errno);
  await(RDMA_CM_EVENT_CONNECT_RESPONSE, deadline);
  modify(id, qp, IBV_QPS_RTR, reads);
  modify(id, qp, IBV_QPS_RTS, reads);
  errno = 0;
  if (rdma_establish(&id) != 0) throw VerbsError("rdma_establish", device_->where(), errno);
}

void CmConnector::resolve_address(rdma_cm_id& id, const std::string& address, std::uint16_t port, Deadline deadline) {
  const auto source = to_socket_address(local_address_, 0);
  const auto target = to_socket_address(address, port);
  // The kernel looks at the neighbour again only when it hears of a change or at this time-out, and it can miss an
  // answer that comes at once (seen on Soft-RoCE over veth): so first a short one, then longer ones.
  for (int patience_ms = 250;; patience_ms *= 2) {
    errno = 0;
    if (rdma_resolve_addr(&id, source->ai_addr, target->ai_addr, std::min(patience_ms, left_ms(deadline))) != 0) {
      throw VerbsError("rdma_resolve_addr from " + local_address_ + " to " + address, device_->where(), errno);
    }
    const auto event = next_event(RDMA_CM_EVENT_ADDR_RESOLVED, deadline);
    const bool in_vain = event->event == RDMA_CM_EVENT_ADDR_ERROR && event->status == -ETIMEDOUT;
    if (!in_vain || deadline.passed()) {
      check_event(*event, RDMA_CM_EVENT_ADDR_RESOLVED);
      return;
    }
  }
}

void CmConnector::await(rdma_cm_event_type expected, Deadline deadline) {
  const auto event = next_event(expected, deadline);
  check_event(*event, expected);
}

CmId CmConnector::next_request(Deadline deadline) {
  if (early_requests_.empty()) {
    const auto event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST, deadline);
    check_event(*event, RDMA_CM_EVENT_CONNECT_REQUEST);
    return CmId{event->id};
  }
  auto request = std::move(early_requests_.front());
  early_requests_.pop_front();
  return request;
}

/// The initiator goes on as soon as it has sent its last word, which the next request can overtake.
void CmConnector::await_established(Deadline deadline) {
  while (true) {
    const auto event = next_event(RDMA_CM_EVENT_ESTABLISHED, deadline);
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
      check_event(*event, RDMA_CM_EVENT_ESTABLISHED);
      return;
    }
    early_requests_.emplace_back(event->id);
  }
}

void CmConnector::throw_peers_words(Deadline deadline) const {
  (void)receive_data(*exchange_, deadline);
  throw PeerError("the peer " + exchange_->peer_name() + " is in another step of the run than this end");
}

CmConnector::CmEvent CmConnector::next_event(rdma_cm_event_type expected, Deadline deadline) {
  rdma_cm_event* raw = nullptr;
  while (true) {
    errno = 0;
    if (rdma_get_cm_event(events_.get(), &raw) == 0) break;
    if (errno != EAGAIN && errno != EINTR) throw VerbsError("rdma_get_cm_event", device_->where(), errno);
    if (deadline.passed()) {
      throw RunError(std::string{"librdmacm on "} + device_->info.name + " saw no " + rdma_event_str(expected) +
                     " before the deadline: can both addresses reach each other (rping)?");
    }
    pollfd ready{events_->fd, POLLIN, 0};
    const int came = ::poll(&ready, 1, std::min(kSliceMs, left_ms(deadline)));
    if (came <= 0 && exchange_->readable_within(0)) throw_peers_words(deadline);
  }
  return CmEvent{raw};
}

void CmConnector::check_event(const rdma_cm_event& event, rdma_cm_event_type expected) const {
  if (event.event == expected) return;
  const bool by_peer = event.event == RDMA_CM_EVENT_REJECTED || event.event == RDMA_CM_EVENT_DISCONNECTED;
  if (by_peer && exchange_->readable_within(kReasonPatienceMs)) {
    throw_peers_words(Deadline::after_ns(std::uint64_t{kReasonPatienceMs} * 1'000'000U));
  }
  throw RunError(std::string{"librdmacm on "} + device_->info.name + " from " + local_address_ + ": expected " +
                 rdma_event_str(expected) + ", got " + rdma_event_str(event.event) + " (status " +
                 std::to_string(event.status) + "): can both addresses reach each other (rping)?");
}

void CmConnector::check_device(const rdma_cm_id& id) const {
  const std::string name = id.verbs == nullptr ? "none" : ibv_get_device_name(id.verbs->device);
  if (name == device_->info.name && id.port_num == device_->port) return;
  throw RunError("librdmacm took device " + name + " port " + std::to_string(id.port_num) + " for address " +
                 local_address_ + ", not " + device_->info.name + " port " + std::to_string(device_->port) +
                 ": routing leads elsewhere; use --connect tcp, or the device and port it took");
}

void CmConnector::modify(rdma_cm_id& id, ibv_qp& qp, ibv_qp_state state, ReadDepth reads) {
  ibv_qp_attr attributes{};
  int mask = 0;
  attributes.qp_state = state;
  errno = 0;
  if (rdma_init_qp_attr(&id, &attributes, &mask) != 0) throw VerbsError("rdma_init_qp_attr", device_->where(), errno);
  if (state == IBV_QPS_INIT) {
    attributes.qp_access_flags |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    mask |= IBV_QP_ACCESS_FLAGS;
  } else if (state == IBV_QPS_RTR) {
    route_mtu_ = from_ibv_mtu(attributes.path_mtu);
    attributes.path_mtu = to_ibv_mtu(*spec_->path_mtu);
    attributes.max_dest_rd_atomic = reads.responder;
  } else {
    const auto budget = choose_retry_budget(spec_->timeout_ns, spec_->retry_count);
    attributes.timeout = budget.timeout;
    attributes.retry_cnt = budget.count;
    attributes.max_rd_atomic = reads.initiator;
  }
  if (const int error = ibv_modify_qp(&qp, &attributes, mask)) {
    throw VerbsError("ibv_modify_qp (librdmacm)", device_->where(), error,
                     state == IBV_QPS_RTR ? rtr_hint(error, device_->port_info().link_layer == "Ethernet") : "");
  }
}

rdma_conn_param CmConnector::parameters(const ibv_qp& qp, ReadDepth reads) const noexcept {
  constexpr std::uint8_t kRnrRetryForever = 7;
  rdma_conn_param parameter{};
  parameter.responder_resources = reads.responder;
  parameter.initiator_depth = reads.initiator;
  parameter.retry_count = choose_retry_budget(spec_->timeout_ns, spec_->retry_count).count;
  parameter.rnr_retry_count = kRnrRetryForever;
  parameter.qp_num = qp.qp_num;
  return parameter;
}

}  // namespace mtuscope::verbs
