#include "mtuscope/sweep/ledger.hpp"

#include <algorithm>
#include <utility>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/sweep/planner.hpp"

namespace mtuscope::sweep {

Ledger::Ledger(const SweepSpec& spec, bool deterministic, Sink& sink, Resume resume)
    : spec_(spec),
      deterministic_(deterministic),
      sink_(sink),
      blocks_(deterministic ? 1 : spec.stop.arrangements),
      min_trials_(deterministic ? 1 : spec.stop.min_trials),
      rounds_((min_trials_ + blocks_ - 1) / blocks_),
      begin_ns_(MonotonicClock{}.now_ns()),
      points_(plan_points(spec)),
      trials_(std::move(resume.trials)),
      warmup_messages_(points_.size()),
      outcomes_(std::move(resume.outcomes)),
      sessions_(std::move(resume.sessions)) {
  trials_.resize(points_.size());
  outcomes_.resize(points_.size());
  progress_.point_count = points_.size();
  for (std::size_t i = 0; i < points_.size(); ++i) {
    // What is measured now continues the numbers: sessions of a new process are a new arrangement.
    for (const auto& trial : trials_[i]) {
      order_ = std::max(order_, trial.order + 1);
      arrangement_ = std::max(arrangement_, trial.arrangement);
      arrangement_has_trial_ = true;
    }
    const auto* done = outcomes_[i] ? std::get_if<Measured>(&*outcomes_[i]) : nullptr;
    const std::uint64_t count = done != nullptr ? done->trials.size() : trials_[i].size();
    progress_.points_done += outcomes_[i] ? 1 : 0;
    progress_.trials_done += count;
    progress_.trials_before += count;
    progress_.trials_expected += outcomes_[i] ? count : std::max(planned_trials(), count);
  }
}

bool Ledger::unfinished() const {
  return std::any_of(outcomes_.begin(), outcomes_.end(), [](const auto& outcome) { return !outcome; });
}

bool Ledger::is_settled(std::size_t i, std::uint32_t round) const {
  if (outcomes_[i] || trials_[i].size() >= spec_.stop.max_trials) return true;
  return std::any_of(trials_[i].begin(), trials_[i].end(), [&](const Trial& t) { return t.round == round; });
}

bool Ledger::block_missing(std::uint32_t block) const {
  for (std::size_t i = 0; i < points_.size(); ++i) {
    for (std::uint32_t round = block * rounds_; round < (block + 1) * rounds_; ++round) {
      if (!is_settled(i, round)) return true;
    }
  }
  return false;
}

std::uint64_t Ledger::elapsed_ns() const noexcept { return MonotonicClock{}.now_ns() - begin_ns_; }

bool Ledger::out_of_time() const noexcept {
  return spec_.stop.max_time_ns != 0 && elapsed_ns() >= spec_.stop.max_time_ns;
}

void Ledger::begin_arrangement() noexcept {
  if (arrangement_has_trial_) ++arrangement_;
  arrangement_has_trial_ = false;
}

void Ledger::add_session(SessionRecord session) {
  session.arrangement = arrangement_;
  sessions_.push_back(std::move(session));
  sink_.on_session(sessions_.back());
}

void Ledger::add_trial(std::size_t i, Trial trial) {
  trial.arrangement = arrangement_;
  trial.order = order_++;
  arrangement_has_trial_ = true;
  trials_[i].push_back(std::move(trial));
  sink_.on_trial(i, trials_[i].back());
  ++progress_.trials_done;
  // Beyond what was planned the stop rule has asked for more.
  if (trials_[i].size() > planned_trials()) ++progress_.trials_expected;
  progress_.elapsed_ns = elapsed_ns();
  sink_.on_progress(progress_);
}

void Ledger::fail(std::size_t i, std::string reason) { settle(i, Failed{std::move(reason), std::move(trials_[i])}); }

void Ledger::skip(std::size_t i, std::string reason) { settle(i, Skipped{std::move(reason)}); }

void Ledger::give_up(std::size_t i, const std::string& cause, const std::string& reason) {
  if (trials_[i].empty()) return fail(i, reason);
  settle(i, measured(i, cause + " after trial " + std::to_string(trials_[i].size()) + ": " + reason));
}

void Ledger::stop_finished() {
  for (std::size_t begin = 0; begin < points_.size();) {
    auto end = begin + 1;
    while (end < points_.size() && same_series(points_[begin], points_[end])) ++end;
    stop_series(begin, end);
    begin = end;
  }
}

void Ledger::stop_series(std::size_t begin, std::size_t end) {
  std::vector<std::pair<std::size_t, bool>> ready;  // with whether the interval is narrow enough
  bool all_narrow = true;
  for (auto i = begin; i < end; ++i) {
    if (outcomes_[i]) continue;
    if (trials_[i].size() < min_trials_) return;
    ready.emplace_back(i, deterministic_ || narrow_enough(i));
    all_narrow = all_narrow && (ready.back().second || trials_[i].size() >= spec_.stop.max_trials);
  }
  if (!all_narrow) return;
  for (const auto& [i, narrow] : ready) {
    settle(i, measured(i, narrow ? "" : "stopped by --max-trials before the interval was narrow enough"));
  }
}

void Ledger::end_early(std::size_t i, const std::string& cause, const std::optional<std::string>& failure) {
  if (!trials_[i].empty()) {
    outcomes_[i] = measured(i, cause + " after trial " + std::to_string(trials_[i].size()));
  } else if (failure) {
    outcomes_[i] = Failed{*failure, {}};
  } else {
    outcomes_[i] = Skipped{cause + " before its first trial"};
  }
}

void Ledger::move_into(RunResult& result) {
  result.points = std::move(points_);
  result.outcomes.reserve(outcomes_.size());
  for (auto& outcome : outcomes_) result.outcomes.push_back(std::move(*outcome));
  result.sessions = std::move(sessions_);
}

Measured Ledger::measured(std::size_t i, std::string note) {
  return {.summary = summarise(points_[i], trials_[i], deterministic_),
          .trials = std::move(trials_[i]),
          .warmup_messages = warmup_messages_[i],
          .session = session_of(points_[i]),
          .note = std::move(note)};
}

bool Ledger::narrow_enough(std::size_t i) const {
  const auto summary = summarise(points_[i], trials_[i], false);
  const auto& estimate = summary.bandwidth_bytes_per_s ? summary.bandwidth_bytes_per_s : summary.latency_ns;
  if (!estimate || !estimate->low || !estimate->high || estimate->value <= 0) return false;
  return (*estimate->high - *estimate->low) / estimate->value <= spec_.stop.relative_interval;
}

/// The first of the record's sessions that measured this point; none for back ends without a port.
std::optional<std::uint32_t> Ledger::session_of(const Point& point) const {
  for (std::uint32_t i = 0; i < sessions_.size(); ++i) {
    if (sessions_[i].connection == point.connection && sessions_[i].proof.asked == point.path_mtu) return i;
  }
  return std::nullopt;
}

/// Ends a point: nothing more will be measured for it.
void Ledger::settle(std::size_t i, Outcome outcome) {
  outcomes_[i] = std::move(outcome);
  ++progress_.points_done;
  sink_.on_outcome(i, *outcomes_[i]);
}

}  // namespace mtuscope::sweep
