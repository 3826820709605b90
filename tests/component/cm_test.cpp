// Connecting through librdmacm, over a fake one.
#include "mtuscope/verbs/connect/cm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "verbs_fixture.hpp"

namespace mtuscope::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Cm : public VerbsFixture {
 protected:
  Cm() {
    for (const char* const device : {"fake0", "fake1"}) {
      const std::string number{device[4]};
      sysfs.gid(device, 1, "0000:0000:0000:0000:0000:ffff:0a00:000" + std::to_string(std::stoi(number) + 1), "RoCE v2");
    }
  }
  static SessionSpec spec_by_cm() {
    auto spec = spec_of(Connection::rc);
    spec.connect_method = ConnectMethod::cm;
    spec.qp_count = 2;
    return spec;
  }
  /// The address of fake0 with this GID chosen.
  [[nodiscard]] std::string address_with_gid(std::uint32_t gid_index) const {
    return cm_address_of(open_device({"fake0", {}, gid_index}, counters::Sysfs{sysfs.root()}));
  }
};

TEST_F(Cm, ConnectsWithOurPathMtuAndKeepsTheRoutes) {
  const auto before = fake_verbs::live_objects();
  const auto spec = spec_by_cm();
  MtuProof proof;
  TrialReading reading;
  const auto ends = run_ends(spec, [&](Session& session, Role role, Watch& watch) {
    auto mine = session.prove_mtu(watch);
    auto trial = session.run(request_of(spec, Operation::send, Pattern::stream, 3000), watch);
    if (role != Role::initiator) return;
    proof = std::move(mine);
    reading = std::move(trial);
  });
  EXPECT_EQ(ends, (Ends{"", ""}));
  EXPECT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  EXPECT_EQ(proof.verdict, ProofVerdict::proved) << proof.reason;
  EXPECT_EQ(proof.local_read_back, PathMtu::mtu1024);
  EXPECT_EQ(proof.remote_read_back, PathMtu::mtu1024);
  EXPECT_EQ(proof.route_mtu, PathMtu::mtu4096);
  EXPECT_EQ(fake_verbs::live_objects(), before);
}

TEST_F(Cm, TakesARequestThatOvertakesTheConnectionBeforeIt) {
  fake_verbs::overtake_established();
  EXPECT_EQ(run_ends(spec_by_cm(), [](Session&, Role, Watch&) {}), (Ends{"", ""}));
}

struct FailingCall {
  const char* call;
  int nth;
};
class CmSetUp : public Cm, public testing::WithParamInterface<FailingCall> {};

/// The words of the end that failed, at both ends; not "saw no CONNECT_REQUEST before the deadline".
TEST_P(CmSetUp, ThatFailsEndsTheOthersWaitWithItsOwnWords) {
  const auto before = fake_verbs::live_objects();
  fake_verbs::fail_call(GetParam().call, EIO, GetParam().nth);
  const auto [mine, theirs] = run_ends(spec_by_cm(), [](Session&, Role, Watch&) {});
  const std::string call{GetParam().call};
  for (const auto& end : {mine, theirs}) {
    EXPECT_THAT(end, AllOf(HasSubstr(call.substr(0, call.find(':'))), HasSubstr("Input/output error")));
  }
  EXPECT_EQ(fake_verbs::live_objects(), before);
}

INSTANTIATE_TEST_SUITE_P(EveryStep, CmSetUp,
                         testing::Values(FailingCall{"rdma_create_event_channel", 1}, FailingCall{"rdma_bind_addr", 1},
                                         FailingCall{"rdma_listen", 1}, FailingCall{"rdma_create_id", 3},
                                         FailingCall{"rdma_resolve_addr", 1}, FailingCall{"rdma_resolve_addr", 2},
                                         FailingCall{"rdma_resolve_route", 1}, FailingCall{"rdma_init_qp_attr", 4},
                                         FailingCall{"rdma_connect", 2}, FailingCall{"ibv_modify_qp:RTR", 1},
                                         FailingCall{"ibv_modify_qp:RTR", 2}, FailingCall{"ibv_modify_qp:RTS", 4},
                                         FailingCall{"rdma_accept", 1}, FailingCall{"rdma_accept", 2},
                                         FailingCall{"rdma_establish", 1}));

TEST_F(Cm, ADeviceThatRoutingDoesNotLeadToIsRefused) {
  sysfs.gid("fake0", 1, "0000:0000:0000:0000:0000:ffff:0a00:0002", "RoCE v2");
  const auto [mine, theirs] = run_ends(spec_by_cm(), [](Session&, Role, Watch&) {});
  for (const auto& end : {mine, theirs}) {
    EXPECT_THAT(end,
                AllOf(HasSubstr("took device fake1 port 1"), HasSubstr("10.0.0.2"), HasSubstr("not fake0 port 1")));
  }
}

TEST_F(Cm, TakesTheAddressOfTheChosenGidElseOneOfItsInterface) {
  sysfs.gid("fake0", 2, "0000:0000:0000:0000:0000:ffff:0a00:0103", "RoCE v2");
  sysfs.gid("fake0", 3, "fe80:0000:0000:0000:0000:0000:0000:0003", "RoCE v2");
  for (const char* const index : {"2", "3"}) {
    sysfs.write("class/infiniband/fake0/ports/1/gid_attrs/ndevs/" + std::string{index}, "vlan7");
  }
  EXPECT_EQ(address_with_gid(1), "10.0.0.1");
  EXPECT_EQ(address_with_gid(2), "10.0.1.3");
  EXPECT_EQ(address_with_gid(3), "10.0.1.3");  // link-local, on the same interface
  EXPECT_EQ(address_with_gid(0), "10.0.0.1");
  sysfs.gid("fake0", 0, "0000:0000:0000:0000:0000:ffff:0a00:0009", "RoCE v2");  // a second address, before the chosen
  EXPECT_EQ(address_with_gid(1), "10.0.0.1");
}

TEST_F(Cm, APortWithoutAnIpv4AddressSaysSo) {
  sysfs.gid("fake0", 1, "fe80:0000:0000:0000:0000:0000:0000:0009", "RoCE v2");
  try {
    (void)address_with_gid(0);
    FAIL() << "an address was found";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("IPv4 address on fake0 port 1"), HasSubstr("net-fake0")));
  }
}

}  // namespace
}  // namespace mtuscope::verbs
