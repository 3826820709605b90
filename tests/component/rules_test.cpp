// Rules that decide without a device: refusals, retry budgets, the MTU proof, payloads, failure texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "mtuscope/verbs/connect/connect.hpp"
#include "mtuscope/verbs/connect/queue_pair.hpp"
#include "mtuscope/verbs/failure.hpp"
#include "mtuscope/verbs/refusal.hpp"
#include "mtuscope/verbs/registered_memory.hpp"

namespace mtuscope::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const PortLimits kLimits{"fake0 port 1", PathMtu::mtu2048, 1U << 23U, 1024, 64, 4096};

Point point_of(Connection connection, Operation operation = Operation::send, Pattern pattern = Pattern::stream) {
  Point point;
  point.connection = connection;
  point.operation = operation;
  point.pattern = pattern;
  point.path_mtu = PathMtu::mtu1024;
  point.message_size_bytes = 512;
  point.tx_depth = 128;
  point.rx_depth = 512;
  return point;
}

std::string refused(const Point& point, const Environment* peer = nullptr) {
  return refuse(point, kLimits, peer).value_or("");
}

TEST(Refusal, TakesWhatTheTransportsOffer) {
  for (const auto connection : {Connection::rc, Connection::uc, Connection::ud}) {
    EXPECT_EQ(refused(point_of(connection)), "");
  }
  EXPECT_EQ(refused(point_of(Connection::rc, Operation::read)), "");
  EXPECT_EQ(refused(point_of(Connection::uc, Operation::write)), "");
}

TEST(Refusal, NamesWhatTheTransportsLack) {
  EXPECT_THAT(refused(point_of(Connection::uc, Operation::read)), HasSubstr("UC has no RDMA read"));
  EXPECT_THAT(refused(point_of(Connection::ud, Operation::write)), HasSubstr("UD has no RDMA write"));
  EXPECT_THAT(refused(point_of(Connection::mpi)), HasSubstr("'mpi'"));
  auto stamped = point_of(Connection::rc, Operation::write, Pattern::ping_pong);
  EXPECT_EQ(refused(stamped), "");
  stamped.wait_mode = WaitMode::event;
  EXPECT_THAT(refused(stamped), HasSubstr("must poll"));
  auto by_cm = point_of(Connection::uc);
  by_cm.connect_method = ConnectMethod::cm;
  EXPECT_THAT(refused(by_cm), HasSubstr("RC only"));
}

TEST(Refusal, AnMtuAboveEitherPortIsNeverAskedOfTheDevice) {
  auto point = point_of(Connection::rc);
  point.path_mtu = PathMtu::mtu4096;
  EXPECT_THAT(refused(point), AllOf(HasSubstr("4096"), HasSubstr("2048"), HasSubstr("fake0 port 1")));
  point.path_mtu = PathMtu::mtu2048;
  EXPECT_EQ(refused(point), "");
  Environment peer;
  peer.port_number = 1;
  peer.device.emplace();
  peer.device->name = "mlx5_3";
  peer.device->ports.resize(1);
  peer.device->ports[0].number = 1;
  peer.device->ports[0].active_mtu = PathMtu::mtu1024;
  EXPECT_THAT(refused(point, &peer), AllOf(HasSubstr("1024"), HasSubstr("peer's mlx5_3 port 1")));
}

TEST(Refusal, SizesOnBothSidesOfEachLimit) {
  auto datagram = point_of(Connection::ud);
  datagram.message_size_bytes = 1024;
  EXPECT_EQ(refused(datagram), "");
  datagram.message_size_bytes = 1025;
  EXPECT_THAT(refused(datagram), AllOf(HasSubstr("1025"), HasSubstr("--segment")));
  datagram.segmented = true;
  EXPECT_EQ(refused(datagram), "");
  datagram.pattern = Pattern::ping_pong;
  EXPECT_THAT(refused(datagram), HasSubstr("ping-pong"));
  auto message = point_of(Connection::rc);
  message.message_size_bytes = 1U << 23U;
  EXPECT_EQ(refused(message), "");
  ++message.message_size_bytes;
  EXPECT_THAT(refused(message), HasSubstr("8388608"));
  message.message_size_bytes = 5'000'000'000U;
  EXPECT_THAT(refused(message), HasSubstr("2^31"));
  message.message_size_bytes = 0;
  EXPECT_THAT(refused(message), HasSubstr("at least 1 byte"));
}

TEST(Refusal, DepthsThatWouldDeadlockOrExceedTheDevice) {
  auto point = point_of(Connection::rc);
  point.tx_depth = 16;
  point.cq_mod = 13;
  point.post_list = 4;
  EXPECT_EQ(refused(point), "");
  point.cq_mod = 14;
  EXPECT_THAT(refused(point), HasSubstr("--tx-depth of at least 17"));
  point = point_of(Connection::rc);
  point.rx_depth = 1025;
  EXPECT_THAT(refused(point), HasSubstr("1024 of fake0"));
  point.rx_depth = 512;
  point.qp_count = 9;
  EXPECT_THAT(refused(point), HasSubstr("completion queue are above the 4096"));
}

SessionSpec session_of(Connection connection) {
  SessionSpec spec;
  spec.connection = connection;
  spec.max_message_size_bytes = 65536;
  return spec;
}

std::string refused_together(const std::vector<SessionSpec>& sessions, const PortLimits& limits = kLimits) {
  return refuse_sessions(sessions, limits).value_or("");
}

TEST(RefusedSessions, AreHeldAgainstEveryLimitOfTheDevice) {
  auto spec = session_of(Connection::rc);
  spec.tx_depth = 1024;
  spec.rx_depth = 1024;
  EXPECT_EQ(refused_together({spec}), "");
  spec.tx_depth = 1025;
  EXPECT_THAT(refused_together({spec}), AllOf(HasSubstr("1025"), HasSubstr("1024 of fake0"), HasSubstr("--tx-depth")));
  spec = session_of(Connection::ud);
  spec.tx_depth = 1009;  // and 16 for credits
  EXPECT_THAT(refused_together({spec}), AllOf(HasSubstr("1025"), HasSubstr("--tx-depth")));
  spec = session_of(Connection::rc);
  spec.rx_depth = 1025;
  EXPECT_THAT(refused_together({spec}), HasSubstr("--rx-depth"));
  spec.rx_depth = 1024;
  spec.qp_count = 5;
  EXPECT_THAT(refused_together({spec}), AllOf(HasSubstr("5120"), HasSubstr("4096"), HasSubstr("--rx-depth or --qp")));
  spec = session_of(Connection::uc);
  spec.max_message_size_bytes = (1U << 23U) + 1;
  EXPECT_THAT(refused_together({spec}), HasSubstr("--size"));
  spec.connection = Connection::ud;  // whose messages are datagrams on the wire
  EXPECT_EQ(refused_together({spec}), "");
}

TEST(RefusedSessions, NeedRoomForCreditsWhereThereAreAny) {
  auto spec = session_of(Connection::ud);
  spec.rx_depth = 16;
  EXPECT_EQ(refused_together({spec}), "");
  spec.rx_depth = 15;
  EXPECT_THAT(refused_together({spec}), HasSubstr("--rx-depth of at least 16, or --no-flow-control"));
  spec.flow_control = false;
  EXPECT_EQ(refused_together({spec}), "");
}

TEST(RefusedSessions, AddUpTheirQueuePairsAndShareOneRegion) {
  auto spec = session_of(Connection::rc);
  spec.rx_depth = 64;
  spec.qp_count = 22;
  EXPECT_EQ(refused_together({spec, spec}), "");
  EXPECT_THAT(refused_together({spec, spec, spec}),
              AllOf(HasSubstr("66 queue pairs"), HasSubstr("64 of fake0"), HasSubstr("--mtu")));
  auto limits = kLimits;
  limits.max_region_bytes = 2ULL * 22 * (65536 + 4096);
  EXPECT_EQ(refused_together({spec, spec}, limits), "");
  --limits.max_region_bytes;
  EXPECT_THAT(refused_together({spec, spec}, limits), HasSubstr("--size or --qp"));
}

TEST(RetryBudget, EndsWithinHalfOfOurDeadlineAndNeverTakesSeven) {
  EXPECT_EQ(choose_retry_budget(10'000'000'000U, 7).count, 6);
  EXPECT_EQ(choose_retry_budget(10'000'000'000U, 6).timeout, 14);
  for (const std::uint64_t deadline_ns : {500'000'000U, 1'000'000'000U, 4'000'000'000U}) {
    const auto budget = choose_retry_budget(deadline_ns, 6);
    EXPECT_LE((std::uint64_t{4096} << budget.timeout) * 7 * kRetrySlowness, deadline_ns / 2) << deadline_ns;
  }
  EXPECT_EQ(choose_retry_budget(1, 6).timeout, 8);
}

TEST(RtrHint, SaysWhatToDoForTheErrnosDevicesGive) {
  EXPECT_THAT(rtr_hint(ETIMEDOUT, true), HasSubstr("ARP"));
  EXPECT_THAT(rtr_hint(EHOSTUNREACH, false), HasSubstr("subnet manager"));
  EXPECT_THAT(rtr_hint(EINVAL, true), HasSubstr("--gid-index"));
  EXPECT_EQ(rtr_hint(EPERM, true), "");
}

TEST(Payload, EveryByteCountsAndSoDoesWhoSentIt) {
  std::vector<std::byte> payload(1001);
  const PayloadKey key{3, 1001, true, 0};
  fill_payload(payload, key);
  EXPECT_FALSE(first_difference(payload, key));
  EXPECT_TRUE(first_difference(payload, {4, 1001, true, 0}));
  EXPECT_TRUE(first_difference(payload, {3, 1002, true, 0}));
  EXPECT_TRUE(first_difference(payload, {3, 1001, false, 0}));
  for (const std::size_t at : {0U, 500U, 1000U}) {
    payload[at] ^= std::byte{1};
    EXPECT_EQ(first_difference(payload, key), at);
    payload[at] ^= std::byte{1};
  }
}

TEST(Payload, StartsAnewInEveryDatagram) {
  std::vector<std::byte> payload(300);
  fill_payload(payload, {1, 300, true, 128});
  for (std::size_t i = 128; i < payload.size(); ++i) EXPECT_EQ(payload[i], payload[i % 128]) << i;
}

TEST(Failure, AWorkErrorSaysQueuePairStatusAndNextStep) {
  EXPECT_THAT(describe({IBV_WC_RETRY_EXC_ERR, 0x81, 0x11, true}),
              AllOf(HasSubstr("send on queue pair 0x11"), HasSubstr("transport retry counter exceeded"),
                    HasSubstr("status 12"), HasSubstr("vendor 0x81"), HasSubstr("is its link up")));
  EXPECT_THAT(describe({IBV_WC_RNR_RETRY_EXC_ERR, 0, 1, true}), HasSubstr("--rx-depth"));
}

TEST(Endpoint, SurvivesTheWireAndRefusesWhatIsCutShort) {
  EndpointInfo info;
  info.connection = Connection::uc;
  info.path_mtu = PathMtu::mtu2048;
  info.active_mtu = PathMtu::mtu4096;
  info.node_guid = "0002:c903:0000:0001";
  info.gid[15] = 9;
  info.qp_numbers = {0x11, 0x12};
  info.cm_address = "10.0.0.1";
  info.cm_port = 4711;
  const auto bytes = encode(info);
  const auto back = decode_endpoint(bytes);
  EXPECT_EQ(back.connection, Connection::uc);
  EXPECT_EQ(back.path_mtu, PathMtu::mtu2048);
  EXPECT_EQ(back.active_mtu, PathMtu::mtu4096);
  EXPECT_EQ(back.node_guid, info.node_guid);
  EXPECT_EQ(back.gid, info.gid);
  EXPECT_EQ(back.qp_numbers, info.qp_numbers);
  EXPECT_EQ(back.cm_port, 4711);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)decode_endpoint(std::span{bytes}.first(size)), PeerError) << size;
  }
}

TEST(Endpoint, ReadsAreLimitedByBothDevices) {
  EndpointInfo mine;
  EndpointInfo theirs;
  mine.reads_as_initiator = 16;
  mine.reads_as_responder = 4;
  theirs.reads_as_initiator = 8;
  theirs.reads_as_responder = 2;
  EXPECT_EQ(negotiate_reads(mine, theirs).initiator, 2);
  EXPECT_EQ(negotiate_reads(mine, theirs).responder, 4);
}

}  // namespace
}  // namespace mtuscope::verbs
