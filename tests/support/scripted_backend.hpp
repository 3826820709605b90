#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/random.hpp"
#include "mtuscope/transport/backend.hpp"
#include "mtuscope/transport/two_ended.hpp"

namespace mtuscope::test {

/// What a scripted device does; shared by both ends of a loopback run.
struct Script {
  /// Nanoseconds one message takes.
  std::function<double(const Point&)> message_ns = [](const Point&) { return 1000.0; };
  /// Why a trial fails; nothing if it does not. `trial` counts the trials of the whole run from 0, warm-ups included.
  std::function<std::optional<std::string>(const Point&, std::uint64_t trial)> failure =
      [](const Point&, std::uint64_t) { return std::optional<std::string>{}; };
  std::function<std::optional<std::string>(const Point&)> refusal = [](const Point&) {
    return std::optional<std::string>{};
  };
  bool failure_breaks_session = false;
  std::optional<std::string> open_error;           ///< of the responder
  std::optional<std::uint64_t> responder_dies_at;  ///< of its own trials, warm-ups included
  std::uint64_t responder_trials = 0;
  double noise = 0;          ///< relative
  std::uint64_t trials = 0;  ///< counted by the initiator
  std::uint64_t opens = 0;
};

class ScriptedSession final : public Session, private TrialEnd {
 public:
  ScriptedSession(Script& script, const SessionSpec& spec, Role role, Exchange& exchange)
      : script_(script), spec_(spec), role_(role), exchange_(exchange) {}

  TrialReading run(const TrialRequest& request, Watch& watch) override {
    return run_two_ended(*this, request, exchange_, watch, spec_.timeout_ns);
  }
  MtuProof prove_mtu(Watch& /*watch*/) override {
    barrier(exchange_, Deadline::after_ns(spec_.timeout_ns));
    MtuProof proof;
    proof.asked = *spec_.path_mtu;
    proof.verdict = ProofVerdict::proved;
    proof.reason = "scripted";
    return proof;
  }
  bool usable() const noexcept override { return usable_; }

 private:
  void prepare(const TrialRequest& /*request*/) override {}
  EndReading execute(const TrialRequest& request, Watch& /*watch*/) override {
    EndReading reading;
    reading.sent = reading.received = request.messages;
    const auto trial = role_ == Role::responder ? script_.responder_trials++ : script_.trials++;
    SplitMix64 random{trial + 1};
    const double time = script_.message_ns(request.point) * static_cast<double>(request.messages) *
                        (1 + script_.noise * (random.uniform() - 0.5));
    reading.send_elapsed_ns = reading.receive_elapsed_ns = static_cast<std::uint64_t>(time);
    if (role_ == Role::responder) {
      if (trial == script_.responder_dies_at) throw RunError("killed");
      return reading;
    }
    if (const auto reason = script_.failure(request.point, trial)) {
      reading.status = KernelStatus::completion_failed;
      reading.reason = *reason;
      usable_ = !script_.failure_breaks_session;
    }
    return reading;
  }

  Script& script_;
  SessionSpec spec_;
  Role role_;
  Exchange& exchange_;
  bool usable_ = true;
};

class ScriptedBackend final : public Backend {
 public:
  explicit ScriptedBackend(Script& script) : script_(script) {}
  std::string_view name() const noexcept override { return "scripted"; }
  Source source() const noexcept override { return Source::measured; }
  bool needs_peer() const noexcept override { return true; }
  bool deterministic() const noexcept override { return false; }
  std::optional<std::string> refusal(const Point& point, const Environment* /*peer*/) const override {
    return script_.refusal(point);
  }
  Environment environment() const override { return {}; }
  std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role role,
                                             Exchange* exchange) override {
    if (role == Role::responder && script_.open_error) throw RunError(*script_.open_error);
    if (role == Role::initiator) ++script_.opens;
    std::vector<std::unique_ptr<Session>> sessions;
    for (const auto& spec : specs) {
      barrier(*exchange, Deadline::after_ns(spec.timeout_ns));
      sessions.push_back(std::make_unique<ScriptedSession>(script_, spec, role, *exchange));
    }
    return sessions;
  }

 private:
  Script& script_;
};

}  // namespace mtuscope::test
