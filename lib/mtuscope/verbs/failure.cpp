#include "mtuscope/verbs/failure.hpp"

#include <cstdio>
#include <system_error>

namespace mtuscope::verbs {
namespace {

std::string hex(std::uint32_t value) {
  std::array<char, 16> text{};
  (void)std::snprintf(text.data(), text.size(), "0x%x", value);
  return text.data();
}

const char* advice(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "the peer does not answer: is its link up, its process alive, and every switch between able to carry this "
             "path MTU?";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "the peer has no receive posted: raise --rx-depth";
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
      return "the message does not fit the receive, or the peer refuses the operation: are both ends of one version?";
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_REM_ACCESS_ERR:
      return "a memory key does not match its region: this is a fault of mtuscope, please report it";
    case IBV_WC_LOC_QP_OP_ERR:
      return "the device could not send: is its network interface up, and in the initial network namespace?";
    case IBV_WC_REM_OP_ERR:
      return "the peer's device could not complete the operation: see its kernel log";
    case IBV_WC_FATAL_ERR:
    case IBV_WC_GENERAL_ERR:
      return "the device failed: see the kernel log";
    default:
      return "see the kernel log and the port's error counters";
  }
}

}  // namespace

std::string describe(const WorkError& error) {
  return std::string{error.sending ? "send" : "receive"} + " on queue pair " + hex(error.qp_number) + ": " +
         ibv_wc_status_str(error.status) + " (status " + std::to_string(static_cast<int>(error.status)) + ", vendor " +
         hex(error.vendor_error) + "): " + advice(error.status);
}

std::string describe_failure(KernelStatus status, const VerbsChannel& channel, std::uint64_t flushed) {
  const auto& error = channel.error();
  const bool has_cause = error.status != IBV_WC_SUCCESS && error.status != IBV_WC_WR_FLUSH_ERR;
  switch (status) {
    case KernelStatus::ok:
      return {};
    case KernelStatus::post_failed:
      return "the device refused a work request: " + std::generic_category().message(channel.refused_with()) +
             (has_cause ? "; " + describe(error) : "");
    case KernelStatus::completion_failed:
      return has_cause ? describe(error) : "work requests were flushed: the queue pair went to ERR; see the kernel log";
    case KernelStatus::event_failed:
      return "waiting for a completion event failed: use polling instead of --events";
    case KernelStatus::peer_finished:
      return "the peer ended its part of the trial before all messages had arrived";
    case KernelStatus::peer_lost:
      return "the connection to the peer is gone";
    case KernelStatus::timed_out:
      return "nothing completed before our own deadline, so the queue pair was moved to ERR: " +
             (has_cause ? describe(error)
                        : std::to_string(flushed) +
                              " work requests were flushed and the device gave no cause: is the "
                              "peer's link up and its process running?");
    case KernelStatus::interrupted:
      return "interrupted";
  }
  return {};
}

}  // namespace mtuscope::verbs
