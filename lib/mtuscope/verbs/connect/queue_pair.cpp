#include "mtuscope/verbs/connect/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mtuscope/verbs/channel.hpp"

namespace mtuscope::verbs {
namespace {

constexpr std::uint8_t kHopLimit = 64;        // the usual initial value of IP; 1 would stop at the first router
constexpr std::uint8_t kMinRnrTimer = 12;     // 0.64 ms (ibv_modify_qp manual page), perftest's
constexpr std::uint8_t kRnrRetryForever = 7;  // a slow receiver is no fault; our own deadline ends the wait
constexpr std::uint8_t kMaxRetryCount = 6;
constexpr std::uint8_t kLongestTimeout = 14;
constexpr std::uint8_t kShortestTimeout = 8;
constexpr std::uint64_t kTimeoutUnitNs = 4096;

ibv_qp_type qp_type(Connection connection) {
  switch (connection) {
    case Connection::rc:
      return IBV_QPT_RC;
    case Connection::uc:
      return IBV_QPT_UC;
    case Connection::ud:
      return IBV_QPT_UD;
    case Connection::mpi:
    case Connection::gm:
    case Connection::tcp:
    case Connection::none:
      break;
  }
  throw RunError("verbs has no queue pair for connection '" + std::string{to_string(connection)} + "'");
}

void modify(ibv_qp& qp, ibv_qp_attr& attributes, int mask, const char* step, const Where& where) {
  if (const int error = ibv_modify_qp(&qp, &attributes, mask)) {
    throw VerbsError(std::string{"ibv_modify_qp to "} + step, where, error);
  }
}

bool can_create(ibv_pd& pd, ibv_qp_init_attr attributes, const Where& where) {
  try {
    (void)create_qp(pd, attributes, where);
    return true;
  } catch (const VerbsError&) {
    return false;
  }
}

}  // namespace

RetryBudget choose_retry_budget(std::uint64_t deadline_ns, std::uint8_t retry_count) noexcept {
  RetryBudget budget;
  budget.count = std::min(retry_count, kMaxRetryCount);
  budget.timeout = kLongestTimeout;
  const auto half_ns = deadline_ns / 2;
  while (budget.timeout > kShortestTimeout &&
         (kTimeoutUnitNs << budget.timeout) * (budget.count + 1U) * kRetrySlowness > half_ns) {
    --budget.timeout;
  }
  return budget;
}

std::uint32_t send_queue_depth(const SessionSpec& spec) noexcept {
  const bool credits = spec.flow_control && spec.connection != Connection::rc;
  return spec.tx_depth + (credits ? kCreditSends : 0);
}

CreatedQueuePair create_queue_pair(ibv_pd& pd, const SessionSpec& spec, ibv_cq& send_cq, ibv_cq& receive_cq,
                                   const Where& where) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = &send_cq;
  attributes.recv_cq = &receive_cq;
  attributes.qp_type = qp_type(spec.connection);
  attributes.cap.max_send_wr = send_queue_depth(spec);
  attributes.cap.max_recv_wr = spec.rx_depth;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = spec.inline_bytes;
  auto without_inline = attributes;
  without_inline.cap.max_inline_data = 0;
  try {
    auto qp = create_qp(pd, attributes, where);
    return {std::move(qp), attributes.cap.max_inline_data};
  } catch (const VerbsError& error) {
    // No attribute of a device says how much inline data it takes; asking for none tells whether that was the reason.
    if (spec.inline_bytes == 0 || !can_create(pd, without_inline, where)) throw;
    throw VerbsError("ibv_create_qp", where, error.error_number(),
                     "the device does not take " + std::to_string(spec.inline_bytes) +
                         " B inline, and takes the queue pair without: lower --inline");
  }
}

void QueuePairStates::to_init(ibv_qp& qp) const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = static_cast<std::uint8_t>(device_.port);
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (spec_.connection == Connection::ud) {
    attributes.qkey = kQueueKey;
    mask |= IBV_QP_QKEY;
  } else {
    attributes.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    if (spec_.connection == Connection::rc) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
    mask |= IBV_QP_ACCESS_FLAGS;
  }
  modify(qp, attributes, mask, "INIT", device_.where());
}

ibv_ah_attr QueuePairStates::address(const Destination& destination) const {
  ibv_ah_attr attributes{};
  attributes.dlid = destination.lid;
  attributes.sl = spec_.service_level;
  attributes.port_num = static_cast<std::uint8_t>(device_.port);
  const bool ethernet = device_.port_info().link_layer == "Ethernet";
  const bool has_no_lid = destination.lid == 0;
  if (ethernet || has_no_lid) {
    attributes.is_global = 1;
    std::memcpy(attributes.grh.dgid.raw, destination.gid.data(), destination.gid.size());
    attributes.grh.sgid_index = static_cast<std::uint8_t>(device_.gid_index);
    attributes.grh.hop_limit = kHopLimit;
    attributes.grh.traffic_class = spec_.traffic_class;
  }
  return attributes;
}

void QueuePairStates::to_rtr(ibv_qp& qp, const Destination& destination, ReadDepth reads) const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  int mask = IBV_QP_STATE;
  if (spec_.connection != Connection::ud) {
    attributes.ah_attr = address(destination);
    attributes.path_mtu = to_ibv_mtu(*spec_.path_mtu);
    attributes.dest_qp_num = destination.qp_number;
    attributes.rq_psn = destination.packet_sequence;
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  }
  if (spec_.connection == Connection::rc) {
    attributes.max_dest_rd_atomic = reads.responder;
    attributes.min_rnr_timer = kMinRnrTimer;
    mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  if (const int error = ibv_modify_qp(&qp, &attributes, mask)) {
    throw VerbsError("ibv_modify_qp to RTR", device_.where(), error,
                     rtr_hint(error, device_.port_info().link_layer == "Ethernet"));
  }
}

void QueuePairStates::to_rts(ibv_qp& qp, std::uint32_t packet_sequence, ReadDepth reads) const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = packet_sequence;
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (spec_.connection == Connection::rc) {
    const auto budget = choose_retry_budget(spec_.timeout_ns, spec_.retry_count);
    attributes.timeout = budget.timeout;
    attributes.retry_cnt = budget.count;
    attributes.rnr_retry = kRnrRetryForever;
    attributes.max_rd_atomic = reads.initiator;
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  modify(qp, attributes, mask, "RTS", device_.where());
}

PathMtu read_back_path_mtu(ibv_qp& qp, const Where& where) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr initial{};
  if (const int error = ibv_query_qp(&qp, &attributes, IBV_QP_PATH_MTU, &initial)) {
    throw VerbsError("ibv_query_qp", where, error);
  }
  const auto mtu = from_ibv_mtu(attributes.path_mtu);
  if (!mtu) {
    throw RunError("ibv_query_qp on " + where.device + " gave " + std::to_string(attributes.path_mtu) +
                   " as path MTU, which is none: the driver is at fault");
  }
  return *mtu;
}

void to_error(ibv_qp& qp) noexcept {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  if (const int error = ibv_modify_qp(&qp, &attributes, IBV_QP_STATE)) {
    report_failed_destroy("ibv_modify_qp to ERR", error);
  }
}

std::string rtr_hint(int error_number, bool ethernet) {
  switch (error_number) {
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return ethernet ? "the peer's GID did not answer ARP or neighbour discovery: check --gid-index on both ends, and "
                        "that their interfaces are on one network"
                      : "no path to the peer: check the LIDs and that a subnet manager runs";
    case EINVAL:
      return ethernet ? "the device refuses these attributes: check that --gid-index exists, has the same type (RoCE "
                        "v1 or v2) on both ends and reaches the peer"
                      : "the device refuses these attributes: check the port's LID and path MTU";
    case ENODEV:
      return "the network interface of the GID is gone or down";
    default:
      return {};
  }
}

}  // namespace mtuscope::verbs
