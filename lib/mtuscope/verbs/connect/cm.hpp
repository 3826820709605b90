#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/core/path_mtu.hpp"
#include "mtuscope/transport/exchange.hpp"
#include "mtuscope/verbs/connect/queue_pair.hpp"
#include "mtuscope/verbs/device/device.hpp"
#include "mtuscope/verbs/handles.hpp"

namespace mtuscope::verbs {

/// The IPv4 address librdmacm is bound to on this port: that of the chosen GID, else of a GID of the same network
/// interface, else of any GID of the port, else of the port's network interface itself (IPoIB). Throws RunError when
/// there is none.
[[nodiscard]] std::string cm_address_of(const OpenDevice& device);

/// Connects RC queue pairs through librdmacm one after another. Our own queue pairs are used: rdma_init_qp_attr
/// supplies the attributes, and path MTU and retry budget in them are replaced by the spec's. Keeps the identifiers
/// alive, as destroying one disconnects. Neither end says a word over `exchange` while the other may be in a call here,
/// so whatever comes over it ends a wait: the peer's reason (PeerFailed), or its end (PeerError).
class CmConnector {
 public:
  CmConnector(const OpenDevice& device, const SessionSpec& spec, Exchange& exchange);

  /// This end's address.
  [[nodiscard]] const std::string& address() const noexcept { return local_address_; }
  /// Responder: binds and listens; the port the kernel gave.
  [[nodiscard]] std::uint16_t listen();
  /// Responder: takes the next connection for `qp`. Throws RunError, also at the deadline.
  void accept(ibv_qp& qp, ReadDepth reads, Deadline deadline);
  /// Initiator: resolves the responder's address and connects `qp` to it. Throws RunError, also at the deadline.
  void connect(ibv_qp& qp, const std::string& address, std::uint16_t port, ReadDepth reads, Deadline deadline);
  /// The path MTU librdmacm proposed (the route's), as of the last connection.
  [[nodiscard]] std::optional<PathMtu> route_mtu() const noexcept { return route_mtu_; }

 private:
  struct AckEvent {
    void operator()(rdma_cm_event* event) const noexcept;
  };
  using CmEvent = std::unique_ptr<rdma_cm_event, AckEvent>;

  void resolve_address(rdma_cm_id& id, const std::string& address, std::uint16_t port, Deadline deadline);
  /// The next event, whatever it is; `expected` is for the message at the deadline.
  [[nodiscard]] CmEvent next_event(rdma_cm_event_type expected, Deadline deadline);
  /// Throws unless the event is the one expected; with the peer's own words if it has any.
  void check_event(const rdma_cm_event& event, rdma_cm_event_type expected) const;
  [[nodiscard]] CmId next_request(Deadline deadline);
  void await_established(Deadline deadline);
  /// Receives what the peer says in mid-connection, and throws it.
  [[noreturn]] void throw_peers_words(Deadline deadline) const;
  /// Waits for an event of this kind and acknowledges it. Throws otherwise.
  void await(rdma_cm_event_type expected, Deadline deadline);
  void modify(rdma_cm_id& id, ibv_qp& qp, ibv_qp_state state, ReadDepth reads);
  void check_device(const rdma_cm_id& id) const;
  [[nodiscard]] rdma_conn_param parameters(const ibv_qp& qp, ReadDepth reads) const noexcept;

  const OpenDevice* device_;
  const SessionSpec* spec_;
  Exchange* exchange_;
  std::string local_address_;
  EventChannel events_;
  CmId listener_;
  std::deque<CmId> early_requests_;  ///< that came while another connection was being completed
  std::vector<CmId> ids_;
  std::optional<PathMtu> route_mtu_;
};

}  // namespace mtuscope::verbs
