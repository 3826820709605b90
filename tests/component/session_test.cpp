// Whole sessions over the fake libibverbs, and every way to fail that real devices cannot be made to show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <tuple>

#include "verbs_fixture.hpp"

namespace mtuscope::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class VerbsSessions : public VerbsFixture {
 protected:
  /// One trial at both ends; the initiator's reading.
  TrialReading trial(const SessionSpec& spec, const TrialRequest& request) {
    TrialReading reading;
    const auto ends = run_ends(spec, [&](Session& session, Role role, Watch& watch) {
      auto mine = session.run(request, watch);
      if (role != Role::initiator) return;
      usable = session.usable();
      reading = std::move(mine);
    });
    EXPECT_EQ(ends, (Ends{"", ""}));
    return reading;
  }
  MtuProof proof(const SessionSpec& spec, const std::string& peer_device = "fake1") {
    MtuProof result;
    const auto ends = run_ends(
        spec,
        [&](Session& session, Role role, Watch& watch) {
          auto mine = session.prove_mtu(watch);
          if (role == Role::initiator) result = std::move(mine);
        },
        peer_device);
    EXPECT_EQ(ends, (Ends{"", ""}));
    return result;
  }
  bool usable = false;
};

using Combination = std::tuple<Connection, Operation, Pattern, WaitMode>;
class EveryCombination : public VerbsSessions, public testing::WithParamInterface<Combination> {};

TEST_P(EveryCombination, DeliversEveryMessageIntactAndLeavesNothingBehind) {
  const auto [connection, operation, pattern, wait_mode] = GetParam();
  auto spec = spec_of(connection);
  spec.wait_mode = wait_mode;
  spec.qp_count = 2;
  spec.cq_mod = 3;
  spec.post_list = 2;
  const auto before = fake_verbs::live_objects();
  const auto reading = trial(spec, request_of(spec, operation, pattern, 1000));
  EXPECT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  EXPECT_TRUE(usable);
  const std::uint64_t all = pattern == Pattern::bidirectional ? 200 : 100;
  if (reading.received_messages) {
    EXPECT_EQ(*reading.received_messages, all);
  } else {
    EXPECT_EQ(reading.messages, all);
  }
  EXPECT_EQ(reading.latency != nullptr, pattern == Pattern::ping_pong);
  EXPECT_EQ(fake_verbs::live_objects(), before);
}

INSTANTIATE_TEST_SUITE_P(Rc, EveryCombination,
                         testing::Combine(testing::Values(Connection::rc),
                                          testing::Values(Operation::send, Operation::write, Operation::read),
                                          testing::Values(Pattern::stream, Pattern::bidirectional, Pattern::ping_pong),
                                          testing::Values(WaitMode::yield)));
INSTANTIATE_TEST_SUITE_P(Lossy, EveryCombination,
                         testing::Combine(testing::Values(Connection::uc, Connection::ud),
                                          testing::Values(Operation::send),
                                          testing::Values(Pattern::stream, Pattern::bidirectional, Pattern::ping_pong),
                                          testing::Values(WaitMode::yield, WaitMode::event)));
INSTANTIATE_TEST_SUITE_P(Events, EveryCombination,
                         testing::Combine(testing::Values(Connection::rc), testing::Values(Operation::send),
                                          testing::Values(Pattern::stream, Pattern::ping_pong),
                                          testing::Values(WaitMode::event)));

TEST_F(VerbsSessions, SegmentedMessagesCountOnceAllTheirBytesAreThere) {
  const auto spec = spec_of(Connection::ud);
  auto request = request_of(spec, Operation::send, Pattern::stream, 2500);
  request.point.segmented = true;
  const auto reading = trial(spec, request);
  EXPECT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  EXPECT_EQ(reading.sent_messages, 100U);
  EXPECT_EQ(reading.received_messages, 100U);
}

TEST_F(VerbsSessions, ALostDatagramIsCountedAndEndsNothing) {
  const auto spec = spec_of(Connection::ud);
  fake_verbs::lose_message(20);
  const auto reading = trial(spec, request_of(spec, Operation::send, Pattern::stream, 500));
  EXPECT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  EXPECT_EQ(reading.sent_messages, 100U);
  EXPECT_EQ(reading.received_messages, 99U);
}

TEST_F(VerbsSessions, AQueuePairThatLostAllItsMessagesIsNotTakenForCorruption) {
  auto spec = spec_of(Connection::ud);
  spec.qp_count = 2;
  auto request = request_of(spec, Operation::send, Pattern::stream, 500);
  request.messages = 3;
  fake_verbs::lose_message(3);  // the only one of the second queue pair
  const auto reading = trial(spec, request);
  EXPECT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  EXPECT_EQ(reading.received_messages, 2U);
}

TEST_F(VerbsSessions, CorruptedPayloadFailsTheTrialAndNamesTheByte) {
  const auto spec = spec_of(Connection::rc);
  fake_verbs::corrupt_messages();
  const auto reading = trial(spec, request_of(spec, Operation::send, Pattern::stream, 1000));
  EXPECT_EQ(reading.status, TrialStatus::failed);
  EXPECT_THAT(reading.reason, AllOf(HasSubstr("payload differs at byte 0"), HasSubstr("fake1")));
}

TEST_F(VerbsSessions, AFailedCompletionIsReportedByItsCauseNotByTheFlushAfterIt) {
  const auto spec = spec_of(Connection::rc);
  fake_verbs::fail_message(IBV_WC_RETRY_EXC_ERR, 0x81, 10);
  const auto before = fake_verbs::live_objects();
  const auto reading = trial(spec, request_of(spec, Operation::write, Pattern::stream, 1000));
  EXPECT_EQ(reading.status, TrialStatus::failed);
  EXPECT_THAT(reading.reason, AllOf(HasSubstr("transport retry counter exceeded"), HasSubstr("vendor 0x81"),
                                    HasSubstr("fake0 port 1")));
  EXPECT_FALSE(usable);
  EXPECT_EQ(fake_verbs::live_objects(), before);
}

TEST_F(VerbsSessions, AtOurDeadlineTheQueuePairIsFlushedAndTheTrialFails) {
  auto spec = spec_of(Connection::rc);
  spec.timeout_ns = 100'000'000U;
  fake_verbs::hold_completions();
  const auto reading = trial(spec, request_of(spec, Operation::write, Pattern::stream, 1000));
  EXPECT_EQ(reading.status, TrialStatus::failed);
  EXPECT_THAT(reading.reason, AllOf(HasSubstr("deadline"), HasSubstr("16 work requests were flushed")));
  EXPECT_FALSE(usable);
}

TEST_F(VerbsSessions, ARefusedPostIsReportedWithItsErrno) {
  const auto spec = spec_of(Connection::rc);
  fake_verbs::fail_call("ibv_post_send", ENOMEM, 5);
  const auto reading = trial(spec, request_of(spec, Operation::write, Pattern::stream, 1000));
  EXPECT_EQ(reading.status, TrialStatus::failed);
  EXPECT_THAT(reading.reason, AllOf(HasSubstr("refused a work request"), HasSubstr("Cannot allocate memory")));
}

TEST_F(VerbsSessions, AFailedSessionRefusesFurtherTrials) {
  const auto spec = spec_of(Connection::rc);
  const auto request = request_of(spec, Operation::write, Pattern::stream, 1000);
  fake_verbs::fail_message(IBV_WC_REM_OP_ERR, 0, 1);
  TrialReading second;
  (void)run_ends(spec, [&](Session& session, Role role, Watch& watch) {
    (void)session.run(request, watch);
    auto reading = session.run(request, watch);
    if (role == Role::initiator) second = std::move(reading);
  });
  EXPECT_EQ(second.status, TrialStatus::failed);
  EXPECT_THAT(second.reason, HasSubstr("opened anew"));
}

struct FailingStep {
  const char* call;
  int nth;
};
class SetUp : public VerbsSessions, public testing::WithParamInterface<FailingStep> {};

TEST_P(SetUp, ThatFailsAtAnyStepFreesEverythingAndTellsThePeer) {
  auto spec = spec_of(std::string{GetParam().call} == "ibv_create_ah" ? Connection::ud : Connection::rc);
  spec.qp_count = 2;
  spec.timeout_ns = 1'000'000'000U;
  const auto before = fake_verbs::live_objects();
  fake_verbs::fail_call(GetParam().call, ENOMEM, GetParam().nth);
  const auto [mine, theirs] = run_ends(spec, [](Session&, Role, Watch&) {});
  const std::string call{GetParam().call};
  const auto name = call.substr(0, call.find(':'));
  for (const auto& end : {mine, theirs}) {
    EXPECT_THAT(end, AllOf(HasSubstr(name), HasSubstr("Cannot allocate memory")));
  }
  EXPECT_EQ(fake_verbs::live_objects(), before);
}

INSTANTIATE_TEST_SUITE_P(EveryStep, SetUp,
                         testing::Values(FailingStep{"ibv_open_device", 1}, FailingStep{"ibv_query_device", 1},
                                         FailingStep{"ibv_query_port", 1}, FailingStep{"ibv_alloc_pd", 1},
                                         FailingStep{"ibv_reg_mr", 1}, FailingStep{"ibv_create_comp_channel", 1},
                                         FailingStep{"ibv_create_cq", 1}, FailingStep{"ibv_create_cq", 2},
                                         FailingStep{"ibv_create_qp", 1}, FailingStep{"ibv_create_qp", 3},
                                         FailingStep{"ibv_modify_qp:INIT", 2}, FailingStep{"ibv_query_gid", 1},
                                         FailingStep{"ibv_modify_qp:RTR", 2}, FailingStep{"ibv_modify_qp:RTS", 3},
                                         FailingStep{"ibv_create_ah", 2}, FailingStep{"ibv_query_qp", 1}));

TEST_F(VerbsSessions, WhatThePeersDeviceCannotHoldIsRefusedBeforeAnythingIsCreated) {
  for (const char* const device : {"fake0", "fake1"}) fake_verbs::attributes(device).max_cqe = 31;
  const auto [mine, theirs] = run_ends(spec_of(Connection::rc), [](Session&, Role, Watch&) {});
  EXPECT_THAT(mine, AllOf(HasSubstr("32 entries of a completion queue"), HasSubstr("31 of fake0 port 1")));
  EXPECT_THAT(theirs, HasSubstr("31 of fake1 port 1"));
  EXPECT_EQ(fake_verbs::calls("ibv_alloc_pd"), 0);
}

TEST_F(VerbsSessions, InlineTheDeviceDoesNotTakeIsNamedAsTheReason) {
  auto spec = spec_of(Connection::rc);
  spec.inline_bytes = 4000;
  fake_verbs::fail_call("ibv_create_qp", EINVAL);
  const auto before = fake_verbs::live_objects();
  auto [mine, theirs] = run_ends(spec, [](Session&, Role, Watch&) {});
  EXPECT_THAT(mine + theirs, AllOf(HasSubstr("4000 B inline"), HasSubstr("lower --inline")));
  EXPECT_EQ(fake_verbs::live_objects(), before);
  spec.inline_bytes = 0;
  fake_verbs::fail_call("ibv_create_qp", EINVAL);
  std::tie(mine, theirs) = run_ends(spec, [](Session&, Role, Watch&) {});
  EXPECT_THAT(mine + theirs, HasSubstr("lower --tx-depth, --rx-depth or --inline"));
}

TEST_F(VerbsSessions, ARefusedRtrGivesTheHintOfItsErrno) {
  fake_verbs::fail_call("ibv_modify_qp:RTR", ETIMEDOUT);
  auto spec = spec_of(Connection::rc);
  spec.timeout_ns = 1'000'000'000U;
  const auto [mine, theirs] = run_ends(spec, [](Session&, Role, Watch&) {});
  EXPECT_THAT(mine + theirs, AllOf(HasSubstr("ibv_modify_qp to RTR"), HasSubstr("ARP")));
}

TEST_F(VerbsSessions, AnMtuAboveThePeersPortIsNeverAskedOfTheDevice) {
  fake_verbs::port("fake1").active_mtu = IBV_MTU_1024;
  auto spec = spec_of(Connection::rc);
  spec.path_mtu = PathMtu::mtu2048;
  const auto [mine, theirs] = run_ends(spec, [](Session&, Role, Watch&) {});
  EXPECT_THAT(mine, AllOf(HasSubstr("path MTU 2048"), HasSubstr("1024 of the peer's port")));
  EXPECT_EQ(fake_verbs::calls("ibv_modify_qp:RTR"), 0);
}

class Proof : public VerbsSessions, public testing::WithParamInterface<Connection> {};

TEST_P(Proof, HoldsWhenPacketsFitAndFailsWhenTheyDoNot) {
  auto spec = spec_of(GetParam());
  spec.path_mtu = PathMtu::mtu2048;
  if (GetParam() == Connection::ud) fake_verbs::cut_packets_at(2048);
  const auto good = proof(spec);
  EXPECT_EQ(good.verdict, ProofVerdict::proved) << good.reason;
  EXPECT_EQ(good.counted_packets, good.expected_packets);
  EXPECT_EQ(good.local_read_back.has_value(), GetParam() != Connection::ud);
  EXPECT_EQ(good.remote_active, PathMtu::mtu4096);
  fake_verbs::cut_packets_at(1024);
  EXPECT_EQ(proof(spec).verdict, ProofVerdict::contradicted);
}

INSTANTIATE_TEST_SUITE_P(Connections, Proof, testing::Values(Connection::rc, Connection::uc, Connection::ud));

TEST_F(VerbsSessions, AQueuePairThatReadsBackAnotherMtuContradicts) {
  auto spec = spec_of(Connection::rc);
  spec.path_mtu = PathMtu::mtu2048;
  fake_verbs::report_path_mtu(IBV_MTU_1024);
  const auto result = proof(spec);
  EXPECT_EQ(result.verdict, ProofVerdict::contradicted);
  EXPECT_EQ(result.local_read_back, PathMtu::mtu1024);
  EXPECT_THAT(result.reason, AllOf(HasSubstr("1024"), HasSubstr("2048")));
}

TEST_F(VerbsSessions, ACounterThatStandsStillOrIsSaturatedProvesNothing) {
  auto spec = spec_of(Connection::rc);
  spec.timeout_ns = 1'000'000'000U;
  fake_verbs::count_packets_in("");
  const auto still = proof(spec);
  EXPECT_EQ(still.verdict, ProofVerdict::not_provable);
  EXPECT_THAT(still.reason, AllOf(HasSubstr("0 packets were counted"), HasSubstr("stands still")));
  sysfs.write("class/infiniband/fake0/ports/1/hw_counters/sent_pkts", "4294967295");
  const auto saturated = proof(spec);
  EXPECT_EQ(saturated.verdict, ProofVerdict::not_provable);
  EXPECT_THAT(saturated.reason, HasSubstr("saturated"));
}

TEST_F(VerbsSessions, OneDeviceAtBothEndsIsNotProvable) {
  const auto result = proof(spec_of(Connection::rc), "fake0");
  EXPECT_EQ(result.verdict, ProofVerdict::not_provable);
  EXPECT_THAT(result.reason, HasSubstr("one port"));
}

TEST_F(VerbsSessions, SendsInlineUpToWhatWasGrantedAndNoMore) {
  auto spec = spec_of(Connection::rc);
  spec.inline_bytes = 256;
  fake_verbs::grant_inline(64);
  const auto small = trial(spec, request_of(spec, Operation::send, Pattern::stream, 64));
  EXPECT_EQ(small.status, TrialStatus::ok) << small.reason;
  EXPECT_EQ(fake_verbs::calls("IBV_SEND_INLINE"), 100);
  const auto large = trial(spec, request_of(spec, Operation::send, Pattern::stream, 65));
  EXPECT_EQ(large.status, TrialStatus::ok) << large.reason;
  EXPECT_EQ(fake_verbs::calls("IBV_SEND_INLINE"), 100);
}

}  // namespace
}  // namespace mtuscope::verbs
