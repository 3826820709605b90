#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/counters/packet_counter.hpp"
#include "mtuscope/mpi/call.hpp"
#include "mtuscope/mpi/kernels.hpp"
#include "mtuscope/mpi/watchdog.hpp"
#include "mtuscope/transport/exchange.hpp"
#include "mtuscope/transport/session.hpp"
#include "mtuscope/transport/two_ended.hpp"

namespace mtuscope::mpi {

/// One send and one receive area of whole, touched pages.
class Areas {
 public:
  /// Throws RunError when there is no memory for them.
  explicit Areas(std::uint64_t message_size_bytes);
  [[nodiscard]] std::byte* send_area() const noexcept { return base_.get(); }
  [[nodiscard]] std::byte* receive_area() const noexcept { return base_.get() + stride_bytes_; }
  [[nodiscard]] std::uint64_t area_bytes() const noexcept { return stride_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* base) const noexcept;
  };
  std::uint64_t stride_bytes_;
  std::unique_ptr<std::byte, Free> base_;
};

/// What the sessions of one arrangement share: a fresh communicator and fresh memory.
struct Arrangement {
  Arrangement(MPI_Comm parent, std::uint64_t message_size_bytes, Deadline deadline)
      : comm(parent, deadline), areas(message_size_bytes) {}
  Communicator comm;
  Areas areas;
};

/// What a session is made from.
struct SessionSetup {
  std::shared_ptr<const Arrangement> arrangement;
  SessionSpec spec;
  Role role = Role::initiator;
  int peer = 0;
  Exchange* exchange = nullptr;
  Alarm alarm;
};

/// One pair of ranks.
class MpiSession final : public Session, public TrialEnd {
 public:
  explicit MpiSession(SessionSetup setup);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession() override;

  [[nodiscard]] TrialReading run(const TrialRequest& request, Watch& watch) override;
  /// Bursts of sends, whose packets are counted at the ports of the initiator's host (mtu_proof.cpp).
  [[nodiscard]] MtuProof prove_mtu(Watch& watch) override;
  [[nodiscard]] bool usable() const noexcept override { return usable_; }

  void prepare(const TrialRequest& request) override;
  [[nodiscard]] EndReading execute(const TrialRequest& request, Watch& watch) override;

 private:
  [[nodiscard]] Wire wire(const TrialRequest& request) const noexcept;
  [[nodiscard]] StreamPlan plan(const TrialRequest& request) const noexcept;
  [[nodiscard]] bool receives(const Point& point) const noexcept;
  [[nodiscard]] EndReading execute_ping_pong(const TrialRequest& request);
  [[nodiscard]] EndReading to_reading(const TrialRequest& request, const KernelReading& kernel) const;
  void verify(const TrialRequest& request, TrialReading& reading);
  void give_up() noexcept;
  /// A trial without the comparison of its payload; the session ends with one that fails.
  [[nodiscard]] TrialReading run_checked(const TrialRequest& request, Watch& watch);
  [[nodiscard]] Deadline deadline() const noexcept { return Deadline::after_ns(2 * setup_.spec.timeout_ns); }
  void prove_by_burst(MtuProof& proof, bool same_host, Watch& watch);
  /// Which of the ports a burst of `send` leaves by; nothing, and the reason, if that cannot be told.
  [[nodiscard]] std::optional<std::size_t> find_port(const std::vector<counters::PacketCounter>& ports, bool same_host,
                                                     const std::function<std::string()>& send, std::string& reason);

  SessionSetup setup_;
  Watchdog watchdog_;
  StreamRoom room_;
  bool usable_ = true;
};

}  // namespace mtuscope::mpi
