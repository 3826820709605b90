#include "mtuscope/verbs/handles.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include "mtuscope/core/log.hpp"

namespace mtuscope::verbs {
namespace {

std::string compose(std::string_view call, const Where& where, std::string_view hint) {
  std::string text{call};
  if (!where.device.empty()) text += " on " + where.device;
  if (where.port != 0) text += " port " + std::to_string(where.port);
  if (!hint.empty()) text.append(" (").append(hint).append(")");
  return text;
}

/// For calls that return a pointer and set errno.
template <class Handle, class Object>
Handle own(Object* object, std::string_view call, const Where& where, std::string_view hint = {}) {
  if (object == nullptr) throw VerbsError(call, where, errno, hint);
  return Handle{object};
}

std::string memlock_hint(std::size_t size_bytes) {
  std::string text = "registering " + std::to_string(size_bytes) + " B";
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    text +=
        limit.rlim_cur == RLIM_INFINITY
            ? "; RLIMIT_MEMLOCK is unlimited, so the host or the device is out of memory: use smaller messages"
            : "; RLIMIT_MEMLOCK is " + std::to_string(limit.rlim_cur) +
                  " B: raise it with 'ulimit -l unlimited' or in /etc/security/limits.conf, or use smaller messages";
  }
  return text;
}

}  // namespace

VerbsError::VerbsError(std::string_view call, const Where& where, int error_number, std::string_view hint)
    : SystemError(compose(call, where, hint), error_number) {}

void report_failed_destroy(std::string_view object, int error_number) noexcept {
  try {
    log(LogLevel::error,
        std::string{object} + " failed, the object is leaked: " + std::generic_category().message(error_number));
  } catch (const std::exception&) {  // out of memory in a destructor: nothing is left to tell it with
    return;
  }
}

void CloseDevice::operator()(ibv_context* context) const noexcept {
  errno = 0;
  if (ibv_close_device(context) != 0) report_failed_destroy("ibv_close_device", errno);
}
void DeallocPd::operator()(ibv_pd* pd) const noexcept {
  if (const int error = ibv_dealloc_pd(pd)) report_failed_destroy("ibv_dealloc_pd", error);
}
void DestroyCompletionChannel::operator()(ibv_comp_channel* channel) const noexcept {
  if (const int error = ibv_destroy_comp_channel(channel)) report_failed_destroy("ibv_destroy_comp_channel", error);
}
void DestroyCq::operator()(ibv_cq* cq) const noexcept {
  if (const int error = ibv_destroy_cq(cq)) report_failed_destroy("ibv_destroy_cq", error);
}
void DeregMr::operator()(ibv_mr* mr) const noexcept {
  if (const int error = ibv_dereg_mr(mr)) report_failed_destroy("ibv_dereg_mr", error);
}
void DestroyQp::operator()(ibv_qp* qp) const noexcept {
  if (const int error = ibv_destroy_qp(qp)) report_failed_destroy("ibv_destroy_qp", error);
}
void DestroyAh::operator()(ibv_ah* ah) const noexcept {
  if (const int error = ibv_destroy_ah(ah)) report_failed_destroy("ibv_destroy_ah", error);
}
void DestroyEventChannel::operator()(rdma_event_channel* channel) const noexcept {
  rdma_destroy_event_channel(channel);
}
void DestroyCmId::operator()(rdma_cm_id* id) const noexcept {
  errno = 0;
  if (rdma_destroy_id(id) != 0) report_failed_destroy("rdma_destroy_id", errno);
}

Context open_context(ibv_device& device) {
  errno = 0;
  return own<Context>(ibv_open_device(&device), "ibv_open_device", {ibv_get_device_name(&device), 0},
                      "are /dev/infiniband/uverbs* readable and writable for this user?");
}
ProtectionDomain alloc_pd(ibv_context& context, const Where& where) {
  errno = 0;
  return own<ProtectionDomain>(ibv_alloc_pd(&context), "ibv_alloc_pd", where);
}

CompletionChannel create_completion_channel(ibv_context& context, const Where& where) {
  errno = 0;
  return own<CompletionChannel>(ibv_create_comp_channel(&context), "ibv_create_comp_channel", where);
}

CompletionQueue create_cq(ibv_context& context, int entries, ibv_comp_channel* channel, const Where& where) {
  errno = 0;
  return own<CompletionQueue>(
      ibv_create_cq(&context, entries, nullptr, channel, 0), "ibv_create_cq", where,
      "asked for " + std::to_string(entries) + " entries: lower --tx-depth, --rx-depth or --qp");
}

MemoryRegion register_memory(ibv_pd& pd, void* address, std::size_t size_bytes, const Where& where) {
  errno = 0;
  auto* const region =
      ibv_reg_mr(&pd, address, size_bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  const int error = errno;
  if (region == nullptr) throw VerbsError("ibv_reg_mr", where, error, memlock_hint(size_bytes));
  return MemoryRegion{region};
}

QueuePair create_qp(ibv_pd& pd, ibv_qp_init_attr& attributes, const Where& where) {
  const auto asked = attributes.cap;  // a provider may change it even when it fails
  errno = 0;
  auto* const qp = ibv_create_qp(&pd, &attributes);
  const int error = errno;
  if (qp == nullptr) {
    throw VerbsError("ibv_create_qp", where, error,
                     "asked for " + std::to_string(asked.max_send_wr) + " sends, " + std::to_string(asked.max_recv_wr) +
                         " receives, " + std::to_string(asked.max_inline_data) +
                         " B inline: lower --tx-depth, --rx-depth or --inline");
  }
  return QueuePair{qp};
}

AddressHandle create_ah(ibv_pd& pd, ibv_ah_attr& attributes, const Where& where) {
  errno = 0;
  return own<AddressHandle>(ibv_create_ah(&pd, &attributes), "ibv_create_ah", where,
                            "no route to the peer's GID? check --gid-index and that both ends are on one subnet");
}

EventChannel create_event_channel(const Where& where) {
  errno = 0;
  return own<EventChannel>(rdma_create_event_channel(), "rdma_create_event_channel", where,
                           "is the kernel module rdma_ucm loaded?");
}

CmId create_cm_id(rdma_event_channel& channel, const Where& where) {
  rdma_cm_id* id = nullptr;
  errno = 0;
  if (rdma_create_id(&channel, &id, nullptr, RDMA_PS_TCP) != 0) throw VerbsError("rdma_create_id", where, errno);
  return CmId{id};
}

}  // namespace mtuscope::verbs
