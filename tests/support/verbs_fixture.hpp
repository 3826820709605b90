#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fake_sysfs.hpp"
#include "fake_verbs.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/transport/local_exchange.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "mtuscope/verbs/backend.hpp"

/// Two fake devices, their sysfs, and both ends of a run in two threads.
class VerbsFixture : public testing::Test {
 protected:
  using Ends = std::pair<std::string, std::string>;  ///< what each end threw, empty if nothing
  using Script = std::function<void(mtuscope::Session&, mtuscope::Role, mtuscope::Watch&)>;

  VerbsFixture() {
    fake_verbs::reset();
    for (const char* const device : {"fake0", "fake1"}) sysfs.device(device);
    fake_verbs::count_packets_in(sysfs.root());
    mtuscope::set_log_sink([this](mtuscope::LogLevel level, std::string_view line) {
      if (level == mtuscope::LogLevel::error) logged_errors.emplace_back(line);
    });
  }
  /// No test here stages a failing destroy, so none may be reported (unacknowledged events make ibv_destroy_cq fail).
  ~VerbsFixture() override {
    mtuscope::set_log_sink({});
    EXPECT_EQ(logged_errors, std::vector<std::string>{});
  }

  /// 10 s is a deadline that a test only meets when it is about deadlines, and then it shortens it.
  static mtuscope::SessionSpec spec_of(mtuscope::Connection connection) {
    mtuscope::SessionSpec spec;
    spec.connection = connection;
    spec.max_message_size_bytes = 65536;
    spec.tx_depth = 16;
    spec.rx_depth = 32;
    spec.wait_mode = mtuscope::WaitMode::yield;
    return spec;
  }

  static mtuscope::TrialRequest request_of(const mtuscope::SessionSpec& spec, mtuscope::Operation operation,
                                           mtuscope::Pattern pattern, std::uint64_t message_size_bytes) {
    mtuscope::TrialRequest request;
    request.point.connection = spec.connection;
    request.point.operation = operation;
    request.point.pattern = pattern;
    request.point.path_mtu = spec.path_mtu;
    request.point.message_size_bytes = message_size_bytes;
    request.messages = 100;
    request.verify_payload = true;
    return request;
  }

  mtuscope::verbs::VerbsOptions options_of(const std::string& device) const {
    mtuscope::verbs::VerbsOptions options;
    options.device = device;
    options.sysfs_root = sysfs.root();
    return options;
  }

  /// Opens one session of `spec` between fake0 (initiator) and `peer_device`, and runs `script` at both ends.
  Ends run_ends(const mtuscope::SessionSpec& spec, const Script& script, const std::string& peer_device = "fake1") {
    const auto exchanges = mtuscope::make_local_exchange();  // named bindings could not be captured with clang 14
    Ends ends;
    const auto play = [&](const std::string& device, mtuscope::Role role, mtuscope::Exchange& exchange,
                          std::string& thrown) {
      try {
        const auto backend = mtuscope::verbs::make_verbs(options_of(device));
        const auto sessions = backend->open({&spec, 1}, role, &exchange);
        mtuscope::ExchangeWatch watch{&exchange, spec.timeout_ns, stop};
        script(*sessions.front(), role, watch);
      } catch (const std::exception& error) {
        thrown = error.what();
        mtuscope::send_error(exchange, error.what());
      }
    };
    std::thread peer{[&] { play(peer_device, mtuscope::Role::responder, *exchanges.second, ends.second); }};
    play("fake0", mtuscope::Role::initiator, *exchanges.first, ends.first);
    peer.join();
    return ends;
  }

  FakeSysfs sysfs;
  std::atomic<bool> stop{false};
  std::vector<std::string> logged_errors;
};
