#include "mtuscope/sweep/runner.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/sweep/calibration.hpp"
#include "mtuscope/sweep/ledger.hpp"
#include "mtuscope/sweep/link.hpp"
#include "mtuscope/sweep/planner.hpp"

namespace mtuscope::sweep {
namespace {

/// A model's trial: long enough for the steady state to rule.
constexpr std::uint64_t kModelMessages = 10'000;

/// One point while the run goes on.
struct PointState {
  std::uint32_t session = 0;
  TrialLength length{};
  std::uint32_t warmed_in = 0;  ///< the opening whose sessions were warmed for it; 0: none
  std::uint32_t led_in = 0;  ///< the opening in which its payload was verified by a cycle through the blocks; 0: none
};

class Runner {
 public:
  Runner(const SweepSpec& spec, RunContext& context)
      : spec_(spec),
        context_(context),
        link_(context.backend, context.exchange, spec.timeout_ns, context.stop),
        deterministic_(context.backend.deterministic()),
        responder_before_(std::move(context.resume.responder)),
        ledger_(spec, deterministic_, context.sink, std::move(context.resume)),
        states_(ledger_.points().size()) {}

  RunResult run() {
    result_.initiator = context_.environment;
    result_.responder = link_.greet(context_.environment);
    meet_responder();
    refuse_points();
    try {
      for (std::uint32_t block = 0; ledger_.unfinished() && !ending(); ++block) run_block(block);
      link_.say_goodbye();
    } catch (const PeerError& error) {
      result_.lost_reason = error.what();
    }
    end_early();
    ledger_.move_into(result_);
    return std::move(result_);
  }

 private:
  // --- planning
  /// Numbers of two pairs of hosts must not become one record.
  void meet_responder() {
    if (!result_.responder) return;
    const auto now = name_of(*result_.responder);
    if (responder_before_ && name_of(*responder_before_) != now) {
      link_.say_goodbye();
      throw ConfigError("--resume: this run was measured with " + name_of(*responder_before_) + ", the peer is now " +
                        now + ": name the same peer");
    }
    context_.sink.on_responder(*result_.responder);
  }

  void refuse_points() {
    const auto* peer = result_.responder ? &*result_.responder : nullptr;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!ledger_.is_open(i)) continue;
      if (auto reason = context_.backend.refusal(point(i), peer)) ledger_.skip(i, std::move(*reason));
    }
  }

  /// One session per (connection, path MTU, working set) that still has a point to measure.
  void plan_sessions() {
    specs_.clear();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!ledger_.is_open(i)) continue;
      const auto same = [&](const SessionSpec& spec) {
        return spec.connection == point(i).connection && spec.path_mtu == point(i).path_mtu &&
               spec.working_set == point(i).working_set;
      };
      auto known = std::find_if(specs_.begin(), specs_.end(), same);
      if (known == specs_.end()) known = specs_.insert(specs_.end(), session_spec(point(i)));
      known->max_message_size_bytes = std::max(known->max_message_size_bytes, wire_size_bytes(point(i)));
      states_[i].session = static_cast<std::uint32_t>(known - specs_.begin());
    }
  }

  [[nodiscard]] SessionSpec session_spec(const Point& point) const {
    SessionSpec session;
    static_cast<SessionOptions&>(session) = spec_;
    session.connection = point.connection;
    session.path_mtu = point.path_mtu;
    session.working_set = point.working_set;
    return session;
  }

  // --- measuring
  /// The rounds that one arrangement is planned for.
  void run_block(std::uint32_t block) {
    const auto first_round = block * ledger_.rounds_per_block();
    if (ledger_.block_missing(block)) {
      plan_sessions();
      if (!open()) return;
      for (const auto i : round_order(ledger_.points(), spec_.seed, first_round)) {
        if (ledger_.is_open(i) && !is_fixed(i) && !ending()) (void)warm(i);
      }
      for (auto round = first_round; round < first_round + ledger_.rounds_per_block(); ++round) run_round(round);
      link_.close();
    }
    if (block + 1 >= ledger_.blocks() && !context_.stop) ledger_.stop_finished();
  }

  /// Opens all sessions, as a new arrangement if the last one has a trial. False when they could not be opened: then
  /// every unfinished point has ended with the reason.
  bool open() {
    ledger_.begin_arrangement();
    try {
      link_.open(specs_);
      if (!deterministic_ && !prove()) {  // a burst that failed (a lossy link) must not cost the points
        link_.close();
        link_.open(specs_);
      }
      ++openings_;
      return true;
    } catch (const PeerError&) {
      throw;
    } catch (const RunError& error) {
      if (openings_ == 0 && ledger_.trial_count() == 0) throw;
      for (std::size_t i = 0; i < states_.size(); ++i) {
        if (ledger_.is_open(i)) ledger_.give_up(i, "no new sessions", error.what());
      }
      return false;
    }
  }

  /// Proves the path MTU of every session; false when that left one of them unusable.
  bool prove() {
    bool usable = true;
    for (std::uint32_t i = 0; i < specs_.size(); ++i) {
      if (!specs_[i].path_mtu) continue;  // nothing was stated, so there is nothing to prove
      ledger_.add_session({.connection = specs_[i].connection, .proof = link_.prove(i)});
      usable = usable && link_.usable(i);
    }
    return usable;
  }

  /// Whether a point's trials have a length that is not found by warming it up: in a pass nothing may come between
  /// two sizes, and a model begins in its steady state.
  [[nodiscard]] bool is_fixed(std::size_t i) const {
    return point(i).pass != Pass::none || (deterministic_ && point(i).working_set);
  }
  [[nodiscard]] TrialLength fixed_length(std::size_t i) const {
    if (point(i).pass != Pass::none) return {*spec_.messages, 0};
    return {std::max({spec_.messages.value_or(0), kModelMessages, 2 * point(i).working_set->block_count}), 0};
  }

  /// One untimed cycle through the blocks, before each series and each trial that is not in one: what a trial finds
  /// must not depend on who was measured before it. Verifies the payload once in an opening. False as warm.
  bool lead_in(std::size_t i) {
    auto& state = states_[i];
    const bool verify = state.led_in != openings_ && spec_.verify_payload;
    state.led_in = openings_;
    const auto& set = point(i).working_set;
    const auto messages = std::max(set ? set->block_count : 1, fewest_messages(point(i)));
    const auto reading = link_.run(
        state.session, {.point = point(i), .messages = messages, .slice_messages = 0, .verify_payload = verify});
    ledger_.add_warmup(i, messages);
    return accept(i, reading);
  }

  /// Warms the open sessions for a point; false when that ended the point or the run.
  bool warm(std::size_t i) {
    auto& state = states_[i];
    state.warmed_in = openings_;
    const bool again = state.length.messages != 0;
    WarmUpRule rule{.trial_time_ns = std::max(spec_.trial_time_ns, shortest_trial_ns(context_.environment.host.clock)),
                    .slice_time_ns = spec_.slice_time_ns,
                    .fewest_messages = fewest_messages(point(i)),
                    .cq_mod = spec_.cq_mod,
                    .fixed_messages = spec_.messages};
    if (again) rule.fixed_messages = state.length.messages;  // every trial of a point has the same length
    if (deterministic_) rule.fixed_messages = kModelMessages / 100;
    const auto warmed = warm_up(rule, [&](std::uint64_t messages, bool first) {
      return link_.run(state.session, {.point = point(i),
                                       .messages = messages,
                                       .slice_messages = 0,
                                       .verify_payload = first && spec_.verify_payload});
    });
    ledger_.add_warmup(i, warmed.discarded_messages);
    if (!accept(i, warmed.last)) return false;
    if (again) return true;
    state.length = warmed.length;
    if (deterministic_) state.length = {std::max(spec_.messages.value_or(0), kModelMessages), 0};
    return true;
  }

  /// A stream must at least fill its pipe; a ping-pong has none.
  [[nodiscard]] std::uint64_t fewest_messages(const Point& point) const {
    if (point.pattern == Pattern::ping_pong) return 1;
    return std::uint64_t{std::max(spec_.tx_depth, 2 * spec_.cq_mod)} * spec_.qp_count;
  }

  void run_round(std::uint32_t round) {
    const auto order = round_order(ledger_.points(), spec_.seed, round);
    for (auto begin = order.begin(); begin != order.end() && !ending();) {
      const auto end =
          std::find_if(begin + 1, order.end(), [&](std::size_t i) { return !same_series(point(*begin), point(i)); });
      point(*begin).pass == Pass::none ? run_point(*begin, round) : run_series({begin, end}, round);
      begin = end;
    }
  }

  void run_point(std::size_t i, std::uint32_t round) {
    if (ledger_.is_settled(i, round)) return;
    if (!is_fixed(i) && states_[i].warmed_in != openings_ && !warm(i)) return;  // opened anew in between
    if (point(i).working_set && !deterministic_ && !lead_in(i)) return;
    (void)run_trial(i, round);
  }

  /// The passes of one path MTU. A resumed run goes through all of them again, and keeps what was missing. A pass that
  /// is broken is no pass: its points fail together.
  void run_series(std::span<const std::size_t> series, std::uint32_t round) {
    const auto settled = [&](std::size_t i) { return ledger_.is_settled(i, round); };
    if (std::all_of(series.begin(), series.end(), settled)) return;
    bool led_in = deterministic_;
    for (const auto i : series) {
      if (!ledger_.is_open(i)) continue;
      if (ending()) return;
      if ((led_in || lead_in(i)) && run_trial(i, round)) {
        led_in = true;
        continue;
      }
      if (ending()) return;
      for (const auto other : series) {
        if (ledger_.is_open(other)) ledger_.fail(other, "its pass was broken: " + describe(point(i)) + " failed");
      }
    }
  }

  /// One trial, which the ledger keeps unless it has it. False as warm.
  bool run_trial(std::size_t i, std::uint32_t round) {
    auto& state = states_[i];
    if (is_fixed(i)) state.length = fixed_length(i);
    const auto reading = link_.run(state.session, {.point = point(i),
                                                   .messages = state.length.messages,
                                                   .slice_messages = state.length.slice_messages,
                                                   .verify_payload = false});
    if (!accept(i, reading)) return false;
    if (!ledger_.is_settled(i, round)) ledger_.add_trial(i, trial_of(reading, round));
    return true;
  }

  [[nodiscard]] static Trial trial_of(const TrialReading& reading, std::uint32_t round) {
    return {.round = round,
            .messages = reading.messages,
            .elapsed_ns = reading.elapsed_ns,
            .sent_messages = reading.sent_messages,
            .received_messages = reading.received_messages,
            .min_slice_bytes_per_s = reading.min_slice_bytes_per_s,
            .latency = reading.latency,
            .sender_elapsed_ns = reading.sender_elapsed_ns};
  }

  /// Whether a reading counts. A failed one ends its point; a session it left unusable is opened anew for the others.
  bool accept(std::size_t i, const TrialReading& reading) {
    switch (reading.status) {
      case TrialStatus::ok:
        if (reading.elapsed_ns > 0 && reading.messages > 0) return true;
        ledger_.fail(i, "a trial took no measurable time: raise --messages or --trial-time");
        return false;
      case TrialStatus::interrupted:
        interrupted_ = true;
        return false;
      case TrialStatus::peer_lost:
        throw PeerError(reading.reason);
      case TrialStatus::failed:
        break;
    }
    ledger_.fail(i, reading.reason);
    if (!link_.usable(states_[i].session) && ledger_.unfinished()) {
      log(LogLevel::warning, "opening the sessions anew after: " + reading.reason);
      link_.close();
      (void)open();
    }
    return false;
  }

  // --- finishing
  /// The user, --max-time or the loss of the peer ended the run.
  void end_early() {
    if (!ledger_.unfinished()) return;
    const auto& lost = result_.lost_reason;
    result_.interrupted = !lost && (interrupted_ || context_.stop);
    const std::string cause = lost                  ? "ended with the peer"
                              : result_.interrupted ? "interrupted"
                                                    : "stopped by --max-time";
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (ledger_.is_open(i)) ledger_.end_early(i, cause, lost);
    }
  }

  // --- looking around
  [[nodiscard]] const Point& point(std::size_t i) const { return ledger_.points()[i]; }
  [[nodiscard]] bool ending() const { return interrupted_ || context_.stop || ledger_.out_of_time(); }

  const SweepSpec& spec_;
  RunContext& context_;
  Link link_;
  const bool deterministic_;
  const std::optional<Environment> responder_before_;  ///< of the run that this one resumes
  Ledger ledger_;
  std::vector<PointState> states_;
  std::vector<SessionSpec> specs_;
  std::uint32_t openings_ = 0;  ///< of all sessions, so far
  bool interrupted_ = false;
  RunResult result_;
};

}  // namespace

RunResult run_sweep(const SweepSpec& spec, RunContext context) {
  check(spec);
  return Runner{spec, context}.run();
}

}  // namespace mtuscope::sweep
