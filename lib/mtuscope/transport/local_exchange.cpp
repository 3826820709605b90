#include "mtuscope/transport/local_exchange.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "mtuscope/core/error.hpp"

namespace mtuscope {
namespace {

/// What both ends share: one queue per direction.
struct Pipe {
  std::mutex mutex;
  std::condition_variable changed;
  std::array<std::deque<Frame>, 2> frames;
  std::array<bool, 2> open{true, true};
};

class LocalExchange final : public Exchange {
 public:
  LocalExchange(std::shared_ptr<Pipe> pipe, unsigned end) : pipe_(std::move(pipe)), mine_(end), theirs_(1 - end) {}
  LocalExchange(const LocalExchange&) = delete;
  LocalExchange& operator=(const LocalExchange&) = delete;
  ~LocalExchange() override {
    const std::scoped_lock lock{pipe_->mutex};
    pipe_->open[mine_] = false;
    pipe_->changed.notify_all();
  }

  void send(FrameKind kind, std::span<const std::byte> payload, Deadline /*never full*/) override {
    const std::scoped_lock lock{pipe_->mutex};
    if (!pipe_->open[theirs_]) {
      if (!pipe_->frames[mine_].empty()) return;  // its last words are still to be received, and say why
      throw PeerError("the other end of this process has ended");
    }
    pipe_->frames[theirs_].push_back({kind, {payload.begin(), payload.end()}});
    pipe_->changed.notify_all();
  }

  Frame receive(Deadline deadline) override {
    std::unique_lock lock{pipe_->mutex};
    auto& frames = pipe_->frames[mine_];
    const auto ready = [&] { return !frames.empty() || !pipe_->open[theirs_]; };
    if (!pipe_->changed.wait_for(lock, std::chrono::milliseconds(deadline.left_ms()), ready)) {
      throw PeerError("the other end of this process did not answer in time");
    }
    if (frames.empty()) throw PeerError("the other end of this process has ended");
    auto frame = std::move(frames.front());
    frames.pop_front();
    return frame;
  }

  bool readable_within(int wait_ms) noexcept override {
    std::unique_lock lock{pipe_->mutex};
    const auto ready = [&] { return !pipe_->frames[mine_].empty() || !pipe_->open[theirs_]; };
    return pipe_->changed.wait_for(lock, std::chrono::milliseconds(wait_ms), ready);
  }
  bool peer_alive() noexcept override {
    const std::scoped_lock lock{pipe_->mutex};
    return pipe_->open[theirs_] || !pipe_->frames[mine_].empty();
  }
  std::string peer_name() const override { return "in this process"; }

 private:
  std::shared_ptr<Pipe> pipe_;
  unsigned mine_;
  unsigned theirs_;
};

}  // namespace

std::pair<std::unique_ptr<Exchange>, std::unique_ptr<Exchange>> make_local_exchange() {
  auto pipe = std::make_shared<Pipe>();
  return {std::make_unique<LocalExchange>(pipe, 0U), std::make_unique<LocalExchange>(pipe, 1U)};
}

}  // namespace mtuscope
