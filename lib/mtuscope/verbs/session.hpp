#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/counters/burst.hpp"
#include "mtuscope/counters/packet_counter.hpp"
#include "mtuscope/counters/sysfs.hpp"
#include "mtuscope/transport/exchange.hpp"
#include "mtuscope/transport/session.hpp"
#include "mtuscope/transport/two_ended.hpp"
#include "mtuscope/verbs/channel.hpp"
#include "mtuscope/verbs/connect/cm.hpp"
#include "mtuscope/verbs/connect/connect.hpp"
#include "mtuscope/verbs/device/device.hpp"
#include "mtuscope/verbs/handles.hpp"
#include "mtuscope/verbs/registered_memory.hpp"
#include "mtuscope/verbs/trial_kernels.hpp"

namespace mtuscope::verbs {

/// What all sessions of one arrangement share; gone with the last of them. The device outlives it.
struct Arrangement {
  Arrangement(const OpenDevice& open_device, counters::Sysfs files, std::uint32_t qp_count,
              std::uint64_t message_size_bytes)
      : device(open_device),
        sysfs(std::move(files)),
        pd(alloc_pd(*open_device.context, open_device.where())),
        memory(*pd, qp_count, message_size_bytes, open_device.where()) {}

  const OpenDevice& device;
  counters::Sysfs sysfs;
  ProtectionDomain pd;
  RegisteredMemory memory;
};

/// What one session is opened from.
struct SessionSetup {
  std::shared_ptr<Arrangement> arrangement;
  SessionSpec spec;
  std::uint32_t index = 0;  ///< within the arrangement, the same on both ends
  Role role = Role::initiator;
  Exchange* exchange = nullptr;
};

/// One end of the connected queue pairs of a spec.
class VerbsSession final : public Session, private TrialEnd {
 public:
  /// Creates, swaps, connects and reads back; returns after the peer has done so too. Throws RunError.
  explicit VerbsSession(SessionSetup setup);

  [[nodiscard]] TrialReading run(const TrialRequest& request, Watch& watch) override;
  /// A burst of sends, repeated while nothing is proved; its packets are counted at the initiator's port.
  [[nodiscard]] MtuProof prove_mtu(Watch& watch) override;
  [[nodiscard]] bool usable() const noexcept override { return usable_; }

 private:
  void prepare(const TrialRequest& request) override;
  [[nodiscard]] EndReading execute(const TrialRequest& request, Watch& watch) override;

  void create_queues();
  [[nodiscard]] EndpointInfo describe_self();
  void connect_queues();
  void read_back();
  void build_channel();
  [[nodiscard]] Deadline deadline() const noexcept;
  [[nodiscard]] const OpenDevice& device() const noexcept { return setup_.arrangement->device; }

  /// Moves the queue pairs to ERR and collects what is flushed; completions found.
  std::uint64_t give_up() noexcept;
  /// Compares what arrived with what the peer sent, on both ends; puts a difference into the reading.
  void verify(const TrialRequest& request, TrialReading& reading);
  [[nodiscard]] std::string find_difference(const TrialRequest& request) const;
  [[nodiscard]] PayloadKey payload_key(const Point& point, bool from_initiator) const noexcept;
  void prove_by_burst(MtuProof& proof, Watch& watch);

  SessionSetup setup_;
  CompletionChannel completion_channel_;
  CompletionQueue send_cq_;
  CompletionQueue receive_cq_;
  std::vector<QueuePair> qps_;
  std::vector<AddressHandle> address_handles_;
  std::optional<CmConnector> cm_;
  std::uint32_t inline_bytes_ = 0;
  EndpointInfo mine_;
  EndpointInfo theirs_;
  std::optional<PathMtu> local_read_back_;
  std::optional<PathMtu> remote_read_back_;
  std::unique_ptr<VerbsChannel> channel_;  // after everything it points into
  KernelRoom room_;
  bool usable_ = true;
};

}  // namespace mtuscope::verbs
