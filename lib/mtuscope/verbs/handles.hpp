#pragma once
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "mtuscope/core/error.hpp"

namespace mtuscope::verbs {

/// Which device and port a call was about, for messages.
struct Where {
  std::string device;
  std::uint32_t port = 0;  ///< 0: the device as a whole
};

/// A verbs or rdma_cm call that failed: "ibv_alloc_pd on mlx5_0 port 1: Cannot allocate memory".
class VerbsError : public SystemError {
 public:
  /// `hint`: what to do next, empty or a clause appended to the message of the call.
  VerbsError(std::string_view call, const Where& where, int error_number, std::string_view hint = {});
};

/// Tells the log that a destroy function failed: a destructor cannot throw.
void report_failed_destroy(std::string_view object, int error_number) noexcept;

/// Stateless deleters: one per C destroy function, each knowing its errno convention.
struct CloseDevice {
  void operator()(ibv_context* context) const noexcept;
};
struct DeallocPd {
  void operator()(ibv_pd* pd) const noexcept;
};
struct DestroyCompletionChannel {
  void operator()(ibv_comp_channel* channel) const noexcept;
};
struct DestroyCq {
  void operator()(ibv_cq* cq) const noexcept;
};
struct DeregMr {
  void operator()(ibv_mr* mr) const noexcept;
};
struct DestroyQp {
  void operator()(ibv_qp* qp) const noexcept;
};
struct DestroyAh {
  void operator()(ibv_ah* ah) const noexcept;
};
struct DestroyEventChannel {
  void operator()(rdma_event_channel* channel) const noexcept;
};
struct DestroyCmId {
  void operator()(rdma_cm_id* id) const noexcept;
};

using Context = std::unique_ptr<ibv_context, CloseDevice>;
using ProtectionDomain = std::unique_ptr<ibv_pd, DeallocPd>;
using CompletionChannel = std::unique_ptr<ibv_comp_channel, DestroyCompletionChannel>;
using CompletionQueue = std::unique_ptr<ibv_cq, DestroyCq>;
using MemoryRegion = std::unique_ptr<ibv_mr, DeregMr>;
using QueuePair = std::unique_ptr<ibv_qp, DestroyQp>;
using AddressHandle = std::unique_ptr<ibv_ah, DestroyAh>;
using EventChannel = std::unique_ptr<rdma_event_channel, DestroyEventChannel>;
using CmId = std::unique_ptr<rdma_cm_id, DestroyCmId>;
static_assert(sizeof(QueuePair) == sizeof(void*));

/// Each clears errno, calls, and throws VerbsError naming the call and the device.
[[nodiscard]] Context open_context(ibv_device& device);
[[nodiscard]] ProtectionDomain alloc_pd(ibv_context& context, const Where& where);
[[nodiscard]] CompletionChannel create_completion_channel(ibv_context& context, const Where& where);
[[nodiscard]] CompletionQueue create_cq(ibv_context& context, int entries, ibv_comp_channel* channel,
                                        const Where& where);
/// ENOMEM is explained by the size asked and RLIMIT_MEMLOCK.
[[nodiscard]] MemoryRegion register_memory(ibv_pd& pd, void* address, std::size_t size_bytes, const Where& where);
[[nodiscard]] QueuePair create_qp(ibv_pd& pd, ibv_qp_init_attr& attributes, const Where& where);
[[nodiscard]] AddressHandle create_ah(ibv_pd& pd, ibv_ah_attr& attributes, const Where& where);
[[nodiscard]] EventChannel create_event_channel(const Where& where);
[[nodiscard]] CmId create_cm_id(rdma_event_channel& channel, const Where& where);

}  // namespace mtuscope::verbs
