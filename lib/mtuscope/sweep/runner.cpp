#include "mtuscope/sweep/runner.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/stats/summary.hpp"
#include "mtuscope/sweep/calibration.hpp"
#include "mtuscope/sweep/link.hpp"
#include "mtuscope/sweep/planner.hpp"
#include "mtuscope/transport/stream_kernel.hpp"

namespace mtuscope::sweep {
namespace {

/// A model's trial: long enough for the steady state to rule.
constexpr std::uint64_t kModelMessages = 10'000;

/// One point while the run goes on.
struct PointState {
  Point point;
  std::uint32_t session = 0;
  std::vector<Trial> trials{};
  TrialLength length{};
  std::uint64_t warmup_messages = 0;
  std::uint32_t warmed_in = 0;  ///< the opening whose sessions were warmed for it; 0: none
  std::optional<Outcome> outcome{};
};

class Runner {
 public:
  Runner(const SweepSpec& spec, RunContext& context)
      : spec_(spec),
        context_(context),
        link_(context.backend, context.exchange, spec.timeout_ns, context.stop),
        deterministic_(context.backend.deterministic()),
        blocks_(deterministic_ ? 1 : spec.stop.arrangements),
        min_trials_(deterministic_ ? 1 : spec.stop.min_trials),
        rounds_((min_trials_ + blocks_ - 1) / blocks_),
        begin_ns_(MonotonicClock{}.now_ns()) {}

  RunResult run() {
    result_.initiator = context_.environment;
    result_.responder = link_.greet(context_.environment);
    meet_responder();
    plan();
    try {
      for (std::uint32_t block = 0; unfinished() && !ending(); ++block) run_block(block);
      link_.say_goodbye();
    } catch (const PeerError& error) {
      result_.lost_reason = error.what();
    }
    end_early();
    for (auto& state : states_) {
      result_.points.push_back(std::move(state.point));
      result_.outcomes.push_back(std::move(*state.outcome));
    }
    return std::move(result_);
  }

 private:
  // --- planning
  /// Numbers of two pairs of hosts must not become one record.
  void meet_responder() {
    if (!result_.responder) return;
    const auto& before = context_.resume.responder;
    const auto now = name_of(*result_.responder);
    if (before && name_of(*before) != now) {
      link_.say_goodbye();
      throw ConfigError("--resume: this run was measured with " + name_of(*before) + ", the peer is now " + now +
                        ": name the same peer");
    }
    context_.sink.on_responder(*result_.responder);
  }

  void plan() {
    auto points = plan_points(spec_);
    const auto* peer = result_.responder ? &*result_.responder : nullptr;
    result_.sessions = std::move(context_.resume.sessions);
    for (std::size_t i = 0; i < points.size(); ++i) {
      PointState state{.point = std::move(points[i])};
      if (i < context_.resume.trials.size()) state.trials = std::move(context_.resume.trials[i]);
      if (i < context_.resume.outcomes.size()) state.outcome = std::move(context_.resume.outcomes[i]);
      go_on_after(state.trials);
      points_.push_back(state.point);
      states_.push_back(std::move(state));
      count_planned(states_.back());
      if (states_.back().outcome) continue;
      if (auto reason = context_.backend.refusal(points_.back(), peer)) settle(i, Skipped{std::move(*reason)});
    }
  }

  /// What is measured now continues the numbers of a resumed run: sessions of a new process are a new arrangement.
  void go_on_after(const std::vector<Trial>& trials) {
    for (const auto& trial : trials) {
      order_ = std::max(order_, trial.order + 1);
      arrangement_ = std::max(arrangement_, trial.arrangement);
      arrangement_has_trial_ = true;
    }
  }

  void count_planned(const PointState& state) {
    const auto* measured = state.outcome ? std::get_if<Measured>(&*state.outcome) : nullptr;
    const std::uint64_t trials = measured != nullptr ? measured->trials.size() : state.trials.size();
    ++progress_.point_count;
    progress_.points_done += state.outcome ? 1 : 0;
    progress_.trials_done += trials;
    progress_.trials_before += trials;
    progress_.trials_expected += state.outcome ? trials : std::max(planned_trials(), trials);
  }

  /// One session per (connection, path MTU) that still has a point to measure.
  void plan_sessions() {
    specs_.clear();
    for (auto& state : states_) {
      if (state.outcome) continue;
      const auto same = [&](const SessionSpec& spec) {
        return spec.connection == state.point.connection && spec.path_mtu == state.point.path_mtu;
      };
      auto known = std::find_if(specs_.begin(), specs_.end(), same);
      if (known == specs_.end()) known = specs_.insert(specs_.end(), session_spec(state.point));
      known->max_message_size_bytes = std::max(known->max_message_size_bytes, wire_size_bytes(state.point));
      state.session = static_cast<std::uint32_t>(known - specs_.begin());
    }
  }

  [[nodiscard]] SessionSpec session_spec(const Point& point) const {
    SessionSpec session{spec_};
    session.connection = point.connection;
    session.path_mtu = point.path_mtu;
    return session;
  }

  // --- measuring
  /// The rounds that one arrangement is planned for.
  void run_block(std::uint32_t block) {
    const auto first_round = block * rounds_;
    if (round_missing(first_round)) {
      plan_sessions();
      if (!open()) return;
      for (const auto i : round_order(points_, spec_.seed, first_round)) {
        if (!states_[i].outcome && !ending()) (void)warm(i);
      }
      for (auto round = first_round; round < first_round + rounds_; ++round) run_round(round);
      link_.close();
    }
    if (block + 1 >= blocks_ && !context_.stop) stop_finished();
  }

  /// Whether a round has nothing to add to a point: its trial is there, or the point has as many as it may have.
  [[nodiscard]] bool is_settled(const PointState& state, std::uint32_t round) const {
    if (state.trials.size() >= spec_.stop.max_trials) return true;
    return std::any_of(state.trials.begin(), state.trials.end(), [&](const Trial& t) { return t.round == round; });
  }

  /// Whether any of a block's rounds is not complete yet (all are, when a resumed run had got beyond it).
  [[nodiscard]] bool round_missing(std::uint32_t first_round) const {
    return std::any_of(states_.begin(), states_.end(), [&](const PointState& state) {
      if (state.outcome) return false;
      for (auto round = first_round; round < first_round + rounds_; ++round) {
        if (!is_settled(state, round)) return true;
      }
      return false;
    });
  }

  /// Opens all sessions, as a new arrangement if the last one has a trial. False when they could not be opened: then
  /// every unfinished point has ended with the reason.
  bool open() {
    if (arrangement_has_trial_) ++arrangement_;
    arrangement_has_trial_ = false;
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
      if (openings_ == 0 && progress_.trials_done == 0) throw;
      give_up_all(error.what());
      return false;
    }
  }

  void give_up_all(const std::string& reason) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      auto& state = states_[i];
      if (state.outcome) continue;
      if (state.trials.empty()) {
        fail(i, reason);
      } else {
        settle(i,
               measured(state, "no new sessions after trial " + std::to_string(state.trials.size()) + ": " + reason));
      }
    }
  }

  /// Proves the path MTU of every session; false when that left one of them unusable.
  bool prove() {
    bool usable = true;
    for (std::uint32_t i = 0; i < specs_.size(); ++i) {
      if (!specs_[i].path_mtu) continue;  // nothing was stated, so there is nothing to prove
      result_.sessions.push_back(
          {.arrangement = arrangement_, .connection = specs_[i].connection, .proof = link_.prove(i)});
      context_.sink.on_session(result_.sessions.back());
      usable = usable && link_.usable(i);
    }
    return usable;
  }

  /// Warms the open sessions for a point; false when that ended the point or the run.
  bool warm(std::size_t i) {
    auto& state = states_[i];
    state.warmed_in = openings_;
    const bool again = state.length.messages != 0;
    WarmUpRule rule{.trial_time_ns = std::max(spec_.trial_time_ns, shortest_trial_ns(context_.environment.host.clock)),
                    .slice_time_ns = spec_.slice_time_ns,
                    .fewest_messages = fewest_messages(state.point),
                    .cq_mod = spec_.cq_mod,
                    .fixed_messages = spec_.messages};
    if (again) rule.fixed_messages = state.length.messages;  // every trial of a point has the same length
    if (deterministic_) rule.fixed_messages = kModelMessages / 100;
    const auto warmed = warm_up(rule, [&](std::uint64_t messages, bool first) {
      return link_.run(state.session, {.point = state.point,
                                       .messages = messages,
                                       .slice_messages = 0,
                                       .verify_payload = first && spec_.verify_payload});
    });
    state.warmup_messages += warmed.discarded_messages;
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
    for (const auto i : round_order(points_, spec_.seed, round)) {
      if (ending()) return;
      auto& state = states_[i];
      if (state.outcome || is_settled(state, round)) continue;
      if (state.warmed_in != openings_ && !warm(i)) continue;  // the sessions were opened anew in between
      const auto reading = link_.run(state.session, {.point = state.point,
                                                     .messages = state.length.messages,
                                                     .slice_messages = state.length.slice_messages,
                                                     .verify_payload = false});
      if (!accept(i, reading)) continue;
      state.trials.push_back(trial_of(reading, round));
      arrangement_has_trial_ = true;
      context_.sink.on_trial(i, state.trials.back());
      report_trial(state.trials.size());
    }
  }

  [[nodiscard]] Trial trial_of(const TrialReading& reading, std::uint32_t round) {
    return {.arrangement = arrangement_,
            .round = round,
            .order = order_++,
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
        fail(i, "a trial took no measurable time: raise --messages or --trial-time");
        return false;
      case TrialStatus::interrupted:
        interrupted_ = true;
        return false;
      case TrialStatus::peer_lost:
        throw PeerError(reading.reason);
      case TrialStatus::failed:
        break;
    }
    fail(i, reading.reason);
    if (!link_.usable(states_[i].session) && unfinished()) {
      log(LogLevel::warning, "opening the sessions anew after: " + reading.reason);
      link_.close();
      (void)open();
    }
    return false;
  }

  // --- finishing
  [[nodiscard]] Measured measured(PointState& state, std::string note) const {
    return {.summary = summarise(state.point, state.trials, deterministic_),
            .trials = std::move(state.trials),
            .warmup_messages = state.warmup_messages,
            .session = session_record_of(state.point),
            .note = std::move(note)};
  }

  /// The first of the record's sessions that measured this point; none for back ends without a port.
  [[nodiscard]] std::optional<std::uint32_t> session_record_of(const Point& point) const {
    for (std::uint32_t i = 0; i < result_.sessions.size(); ++i) {
      const auto& session = result_.sessions[i];
      if (session.connection == point.connection && session.proof.asked == point.path_mtu) return i;
    }
    return std::nullopt;
  }

  void fail(std::size_t i, std::string reason) { settle(i, Failed{std::move(reason), std::move(states_[i].trials)}); }

  /// Ends a point: nothing more will be measured for it.
  void settle(std::size_t i, Outcome outcome) {
    auto& state = states_[i];
    state.outcome = std::move(outcome);
    ++progress_.points_done;
    context_.sink.on_outcome(i, *state.outcome);
  }

  /// Applies the stop rule to every point that has its minimum.
  void stop_finished() {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      auto& state = states_[i];
      if (state.outcome || state.trials.size() < min_trials_) continue;
      const bool narrow = deterministic_ || narrow_enough(state);
      if (!narrow && state.trials.size() < spec_.stop.max_trials) continue;
      settle(i, measured(state, narrow ? "" : "stopped by --max-trials before the interval was narrow enough"));
    }
  }

  [[nodiscard]] bool narrow_enough(const PointState& state) const {
    const auto summary = summarise(state.point, state.trials, false);
    const auto& estimate = summary.bandwidth_bytes_per_s ? summary.bandwidth_bytes_per_s : summary.latency_ns;
    if (!estimate || !estimate->low || !estimate->high || estimate->value <= 0) return false;
    return (*estimate->high - *estimate->low) / estimate->value <= spec_.stop.relative_interval;
  }

  /// The user, --max-time or the loss of the peer ended the run: points with trials are reported as they are. Not told
  /// to the sink, so that a resumed run takes these points up again.
  void end_early() {
    if (!unfinished()) return;
    const auto& lost = result_.lost_reason;
    result_.interrupted = !lost && (interrupted_ || context_.stop);
    const std::string cause = lost                  ? "ended with the peer"
                              : result_.interrupted ? "interrupted"
                                                    : "stopped by --max-time";
    for (auto& state : states_) {
      if (state.outcome) continue;
      if (!state.trials.empty()) {
        state.outcome = measured(state, cause + " after trial " + std::to_string(state.trials.size()));
      } else if (lost) {
        state.outcome = Failed{*lost, {}};
      } else {
        state.outcome = Skipped{cause + " before its first trial"};
      }
    }
  }

  // --- looking around
  [[nodiscard]] bool unfinished() const {
    return std::any_of(states_.begin(), states_.end(), [](const PointState& state) { return !state.outcome; });
  }
  [[nodiscard]] std::uint64_t elapsed_ns() const { return MonotonicClock{}.now_ns() - begin_ns_; }
  [[nodiscard]] bool ending() const {
    return interrupted_ || context_.stop || (spec_.stop.max_time_ns != 0 && elapsed_ns() >= spec_.stop.max_time_ns);
  }

  [[nodiscard]] std::uint64_t planned_trials() const { return std::uint64_t{rounds_} * blocks_; }

  /// `trial_count`: of the point, with this trial; beyond what was planned the stop rule has asked for more.
  void report_trial(std::uint64_t trial_count) {
    ++progress_.trials_done;
    if (trial_count > planned_trials()) ++progress_.trials_expected;
    progress_.elapsed_ns = elapsed_ns();
    context_.sink.on_progress(progress_);
  }

  const SweepSpec& spec_;
  RunContext& context_;
  Link link_;
  const bool deterministic_;
  const std::uint32_t blocks_;  ///< at least so many arrangements
  const std::uint32_t min_trials_;
  const std::uint32_t rounds_;  ///< per block
  const std::uint64_t begin_ns_;
  std::vector<Point> points_;
  std::vector<PointState> states_;
  std::vector<SessionSpec> specs_;
  std::uint64_t order_ = 0;
  std::uint32_t arrangement_ = 0;  ///< of the sessions that are open
  bool arrangement_has_trial_ = false;
  std::uint32_t openings_ = 0;  ///< of all sessions, so far
  Progress progress_;
  bool interrupted_ = false;
  RunResult result_;
};

}  // namespace

RunResult run_sweep(const SweepSpec& spec, RunContext context) {
  check(spec);
  return Runner{spec, context}.run();
}

}  // namespace mtuscope::sweep
