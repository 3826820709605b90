#include "mtuscope/verbs/event_waiter.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>

#include "mtuscope/core/error.hpp"

namespace mtuscope::verbs {
namespace {

constexpr std::chrono::milliseconds kTick{20};

/// Without SA_RESTART, so that a blocked read ends with EINTR.
void install_empty_handler() {
  static const bool kInstalled = [] {
    struct sigaction action {};
    action.sa_handler = [](int /*signal*/) {};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGURG, &action, nullptr) != 0) throw SystemError("sigaction for SIGURG", errno);
    return true;
  }();
  (void)kInstalled;
}

}  // namespace

EventWaiter::EventWaiter(ibv_comp_channel& channel) : channel_(channel), waiting_thread_(pthread_self()) {
  install_empty_handler();
  watcher_ = std::thread{[this] { watch(); }};
}

EventWaiter::~EventWaiter() {
  {
    const std::scoped_lock lock{mutex_};
    stop_ = true;
  }
  stopping_.notify_one();
  watcher_.join();
}

ibv_cq* EventWaiter::wait() noexcept {
  current_wait_.store(++waits_, std::memory_order_release);
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  errno = 0;
  const bool got = ibv_get_cq_event(&channel_, &cq, &context) == 0;
  current_wait_.store(0, std::memory_order_release);
  return got ? cq : nullptr;
}

void EventWaiter::watch() {
  std::uint64_t before = 0;
  std::unique_lock lock{mutex_};
  while (!stopping_.wait_for(lock, kTick, [this] { return stop_; })) {
    const auto now = current_wait_.load(std::memory_order_acquire);
    // A signal that comes just after its wait has ended meets no interruptible call: posts and polls do not sleep.
    if (now != 0 && now == before) pthread_kill(waiting_thread_, SIGURG);
    before = now;
  }
}

}  // namespace mtuscope::verbs
