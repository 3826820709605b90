#include "mtuscope/mpi/exchange.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/mpi/call.hpp"

namespace mtuscope::mpi {
namespace {

constexpr int kFrameTag = 1;
/// Frames under way before `send` waits for the peer to take some. It never waits for the very frame it sends: both
/// ends of a swap send first.
constexpr std::size_t kMaxUnderWay = 8;
constexpr std::uint64_t kLastWordsPatienceNs = 1'000'000'000;

// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): it knows MPI_Wait in the same function only, and we wait by
// MPI_Test
class MpiExchange final : public Exchange {
 public:
  MpiExchange(MPI_Comm parent, int peer, Deadline deadline) : comm_(parent, deadline), peer_(peer) {}
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;
  ~MpiExchange() override {
    try {
      (void)taken_until(0, Deadline::after_ns(kLastWordsPatienceNs));
      for (auto& transfer : sends_) keep_for_ever(std::move(transfer));
    } catch (const std::exception& error) {
      log(LogLevel::debug, error.what());
    }
  }

  void send(FrameKind kind, std::span<const std::byte> payload, Deadline deadline) override {
    if (payload.size() > kMaxFrameBytes) throw RunError("a message to the peer is larger than a frame may be");
    guarded([&] {
      if (!taken_until(kMaxUnderWay - 1, deadline)) {
        throw PeerError("the peer " + peer_name() + " takes no messages any more");
      }
      auto& transfer = sends_.emplace_back();
      transfer.bytes.reserve(1 + payload.size());
      transfer.bytes.push_back(static_cast<std::byte>(kind));
      transfer.bytes.insert(transfer.bytes.end(), payload.begin(), payload.end());
      check("MPI_Isend", MPI_Isend(transfer.bytes.data(), static_cast<int>(transfer.bytes.size()), MPI_BYTE, peer_,
                                   kFrameTag, comm_.get(), &transfer.request));
    });
  }

  Frame receive(Deadline deadline) override {
    std::vector<std::byte> bytes;
    guarded([&] { bytes = receive_bytes(deadline); });
    const auto kind = std::to_integer<std::uint8_t>(bytes.front());
    if (kind < static_cast<std::uint8_t>(FrameKind::data) || kind > static_cast<std::uint8_t>(FrameKind::gone)) {
      throw PeerError("the peer " + peer_name() + " sent a malformed message (unknown kind)");
    }
    bytes.erase(bytes.begin());
    return {static_cast<FrameKind>(kind), std::move(bytes)};
  }

  bool readable_within(int wait_ms) noexcept override {
    const auto deadline = Deadline::after_ns(static_cast<std::uint64_t>(std::max(wait_ms, 0)) * 1'000'000U);
    Pause pause;
    while (true) {
      int found = 0;
      if (MPI_Iprobe(peer_, kFrameTag, comm_.get(), &found, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        alive_ = false;
        return true;  // the next receive says what is wrong
      }
      if (found != 0) return true;
      if (wait_ms <= 0 || deadline.passed()) return false;
      pause.rest();
    }
  }

  bool peer_alive() noexcept override { return alive_; }
  std::string peer_name() const override { return "rank " + std::to_string(peer_); }

 private:
  /// A call of MPI that fails between these two ranks means that the peer cannot be reached any more.
  template <class Step>
  void guarded(Step step) {
    try {
      step();
    } catch (const PeerError&) {
      throw;
    } catch (const RunError& error) {
      alive_ = false;
      throw PeerError("the connection to " + peer_name() + " is gone: " + error.what());
    }
  }

  /// Waits until at most `left` of our frames are under way; false at the deadline.
  bool taken_until(std::size_t left, Deadline deadline) {
    while (!sends_.empty()) {
      int done = 0;
      check("MPI_Test", MPI_Test(&sends_.front().request, &done, MPI_STATUS_IGNORE));
      if (done == 0) {
        if (sends_.size() <= left) return true;
        if (!wait_until(sends_.front().request, deadline)) return false;
      }
      sends_.pop_front();
    }
    return true;
  }

  std::vector<std::byte> receive_bytes(Deadline deadline) {
    MPI_Status status{};
    Pause pause;
    for (int found = 0; true; pause.rest()) {
      check("MPI_Iprobe", MPI_Iprobe(peer_, kFrameTag, comm_.get(), &found, &status));
      if (found != 0) break;
      if (deadline.passed()) throw PeerError("the peer " + peer_name() + " did not answer in time");
    }
    int count = 0;
    check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &count));
    if (count < 1 || static_cast<std::size_t>(count) > 1 + kMaxFrameBytes) {
      throw PeerError("the peer " + peer_name() + " announced a message that is too large or empty");
    }
    Transfer transfer{.bytes = std::vector<std::byte>(static_cast<std::size_t>(count))};
    check("MPI_Irecv",
          MPI_Irecv(transfer.bytes.data(), count, MPI_BYTE, peer_, kFrameTag, comm_.get(), &transfer.request));
    if (!wait_until(transfer.request, deadline)) {
      keep_for_ever(std::move(transfer));
      throw PeerError("the peer " + peer_name() + " stopped in the middle of a message");
    }
    return std::move(transfer.bytes);
  }

  Communicator comm_;
  int peer_;
  bool alive_ = true;
  std::deque<Transfer> sends_;
};
// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

}  // namespace

std::unique_ptr<Exchange> make_exchange(MPI_Comm parent, int peer, Deadline deadline) {
  return std::make_unique<MpiExchange>(parent, peer, deadline);
}

}  // namespace mtuscope::mpi
