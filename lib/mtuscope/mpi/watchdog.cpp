#include "mtuscope/mpi/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "mtuscope/core/clock.hpp"

namespace mtuscope::mpi {
namespace {

/// Seldom enough to disturb no measurement, often enough that the alarm comes little after the timeout.
std::chrono::nanoseconds period_of(std::uint64_t timeout_ns) {
  constexpr std::uint64_t kShortestNs = 5'000'000;
  constexpr std::uint64_t kLongestNs = 250'000'000;
  return std::chrono::nanoseconds{std::clamp(timeout_ns / 10, kShortestNs, kLongestNs)};
}

std::string seconds_of(std::uint64_t span_ns) {
  return std::to_string((span_ns + 500'000'000U) / 1'000'000'000U) + " s";
}

}  // namespace

Watchdog::Watchdog(std::uint64_t timeout_ns, Alarm alarm)
    : timeout_ns_(timeout_ns),
      alarm_(std::move(alarm)),
      thread_([this](const std::stop_token& stop) { keep_watch(stop); }) {}

Watchdog::~Watchdog() = default;  // the thread member is declared last: it is asked to stop and joined first

Watchdog::Duty::Duty(Watchdog& dog, std::string what, const Watch& watch) : dog_(dog) {
  const std::scoped_lock lock{dog_.mutex_};  // the thread is not woken: it would disturb the trial's first messages
  dog_.watched_.what = std::move(what);
  dog_.watched_.watch = &watch;
  ++dog_.watched_.number;
}

Watchdog::Duty::~Duty() {
  const std::scoped_lock lock{dog_.mutex_};
  dog_.watched_.watch = nullptr;
}

void Watchdog::keep_watch(const std::stop_token& stop) {
  Seen seen;
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    ending_.wait_for(lock, stop, period_of(timeout_ns_), [] { return false; });
    const auto reason = look(seen);
    if (reason.empty()) continue;
    seen = {};
    lock.unlock();
    alarm_(reason);
    lock.lock();
  }
}

std::string Watchdog::look(Seen& seen) const {
  if (watched_.watch == nullptr) return {};
  const auto now = MonotonicClock{}.now_ns();
  const auto progress = progress_.load(std::memory_order_relaxed);
  if (seen.number != watched_.number) seen = {watched_.number, progress, now, 0};
  if (progress != seen.progress) {
    seen.progress = progress;
    seen.moved_ns = now;
  }
  if (seen.stop_since_ns == 0 && watched_.watch->stop_requested()) seen.stop_since_ns = now;
  if (now - seen.moved_ns > timeout_ns_) {
    return watched_.what + ": no message moved for " + seconds_of(now - seen.moved_ns) +
           ": the other rank or the network is gone; look at its host";
  }
  if (seen.stop_since_ns != 0 && now - seen.stop_since_ns > timeout_ns_) {
    return watched_.what + ": still under way " + seconds_of(now - seen.stop_since_ns) +
           " after the run was asked to stop: use fewer --messages";
  }
  return {};
}

}  // namespace mtuscope::mpi
