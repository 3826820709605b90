#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/sweep/protocol.hpp"
#include "mtuscope/sweep/runner.hpp"
#include "mtuscope/transport/local_exchange.hpp"
#include "scripted_backend.hpp"

namespace mtuscope::sweep {
namespace {

using test::Script;
using test::ScriptedBackend;

TEST(Respond, RefusesGarbageAndTheWrongVersion) {
  Script script;
  ScriptedBackend backend{script};
  const std::atomic<bool> never{false};
  for (const bool garbage : {true, false}) {
    auto [mine, theirs] = make_local_exchange();
    if (garbage) {
      const std::vector<std::byte> noise(100, std::byte{0xa5});
      mine->send(FrameKind::data, noise, Deadline::after_ns(1));
    } else {
      Hello hello;
      hello.protocol_version = 99;
      hello.mtuscope_version = "9.9";
      mine->send(FrameKind::data, encode(hello).bytes(), Deadline::after_ns(1));
    }
    respond(backend, *theirs, {}, never);
    const auto answer = mine->receive(Deadline::after_ns(1'000'000'000));
    EXPECT_EQ(answer.kind, FrameKind::gone);
    const std::string text{reinterpret_cast<const char*>(answer.payload.data()), answer.payload.size()};
    EXPECT_NE(text.find(garbage ? "malformed" : "same version"), std::string::npos) << text;
  }
}

TEST(Protocol, EveryCutHelloIsRefused) {
  Hello hello;
  hello.backend = "verbs";
  DeviceInfo device;
  device.name = "rxe0";
  device.ports.emplace_back().gids.emplace_back();
  hello.environment.device = device;
  const auto bytes = encode(hello).bytes();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    WireReader reader{std::span{bytes}.subspan(1, size - 1)};
    EXPECT_THROW((void)decode_hello(reader), PeerError) << size;
  }
  WireReader whole{std::span{bytes}.subspan(1)};
  EXPECT_EQ(decode_hello(whole).environment.device->name, "rxe0");
}

TEST(Protocol, RefusesATrialThatWouldBreakTheResponder) {
  const auto accepted = [](const TrialRequest& request) {
    const auto bytes = encode_trial(0, request).bytes();
    WireReader reader{std::span{bytes}.subspan(1)};
    try {
      (void)decode_trial(reader, 1);
      return true;
    } catch (const PeerError&) {
      return false;
    }
  };
  TrialRequest good;
  good.point.path_mtu = PathMtu::mtu1024;
  good.point.message_size_bytes = 64;
  good.messages = 1'000'000;
  good.slice_messages = 100'000;
  EXPECT_TRUE(accepted(good));
  auto bad = good;
  bad.slice_messages = 1;  // a time stamp for each of them
  EXPECT_FALSE(accepted(bad));
  bad = good;
  bad.messages = 0;
  EXPECT_FALSE(accepted(bad));
  bad.messages = kMaxTrialMessages + 1;
  bad.slice_messages = 0;
  EXPECT_FALSE(accepted(bad));
  for (const std::uint64_t size : {std::uint64_t{0}, (std::uint64_t{1} << 31U) + 1, ~std::uint64_t{0}}) {
    bad = good;
    bad.point.message_size_bytes = size;
    EXPECT_FALSE(accepted(bad)) << size;
  }
}

TEST(Protocol, RefusesASessionOutsideTheLimits) {
  const auto refused = [](auto change) {
    SessionSpec spec;
    change(spec);
    const auto bytes = encode_open({&spec, 1}).bytes();
    WireReader reader{bytes};
    (void)reader.get_enum(Command::bye);
    try {
      (void)decode_open(reader);
    } catch (const PeerError&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused([](SessionSpec&) {}));
  EXPECT_TRUE(refused([](SessionSpec& spec) { spec.retry_count = 7; }));
  EXPECT_TRUE(refused([](SessionSpec& spec) { spec.timeout_ns = 0; }));
  EXPECT_TRUE(refused([](SessionSpec& spec) { spec.timeout_ns = kMaxTimeoutNs + 1; }));
  EXPECT_TRUE(refused([](SessionSpec& spec) { spec.tx_depth = kMaxDepth + 1; }));
  EXPECT_TRUE(refused([](SessionSpec& spec) { spec.qp_count = 0; }));
  EXPECT_TRUE(refused([](SessionSpec& spec) { spec.max_message_size_bytes = kMaxMessageBytes + 1; }));
}

TEST(Respond, RefusesATrialThatItsSessionIsNotMadeFor) {
  Script script;
  ScriptedBackend backend{script};
  const std::atomic<bool> never{false};
  const auto soon = [] { return Deadline::after_ns(5'000'000'000); };
  auto [mine, theirs] = make_local_exchange();
  Hello hello;
  hello.backend = backend.name();
  mine->send(FrameKind::data, encode(hello).bytes(), soon());
  SessionSpec spec;
  spec.max_message_size_bytes = 64;
  mine->send(FrameKind::data, encode_open({&spec, 1}).bytes(), soon());
  mine->send(FrameKind::data, {}, soon());  // the barrier of opening
  mine->send(FrameKind::finished, {}, soon());
  TrialRequest request;
  request.point.connection = Connection::ud;
  request.point.path_mtu = spec.path_mtu;
  request.point.message_size_bytes = 64;
  request.messages = 1;
  mine->send(FrameKind::data, encode_trial(0, request).bytes(), soon());
  respond(backend, *theirs, {}, never);
  auto frame = mine->receive(soon());
  while (frame.kind != FrameKind::gone) frame = mine->receive(soon());
  const std::string text{reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()};
  EXPECT_NE(text.find("not made for"), std::string::npos) << text;
}

}  // namespace
}  // namespace mtuscope::sweep
