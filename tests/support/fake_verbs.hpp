#pragma once
#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

/// A libibverbs of its own inside the test program: its symbols win over the shared library's. Two devices, fake0 and
/// fake1, with one Ethernet port each; queue pairs deliver to each other within the process, so whole sessions run.
namespace fake_verbs {

/// Forgets all staging and asks for a fresh pair of devices. Objects still alive stay counted.
void reset();

/// Attributes of a device's port and of the device, to be changed before it is opened.
ibv_port_attr& port(const std::string& device);
ibv_device_attr& attributes(const std::string& device);
/// Whether ibv_get_device_list finds the devices; 0, or the errno it fails with.
void fail_device_list(int error_number);

/// The `nth` call from now on of this name ("ibv_alloc_pd"; "ibv_modify_qp:RTR" for one step) fails with this errno.
void fail_call(const std::string& call, int error_number, int nth = 1);
/// How often this name was called since reset; "IBV_SEND_INLINE": how many work requests were.
int calls(const std::string& call);
/// Every call of this destroy function fails with this errno; the object is gone all the same.
void refuse_destroy(const std::string& call, int error_number);
/// Objects made and not destroyed, of all kinds.
int live_objects();

/// Nothing completes from now on, until queue pairs are moved to ERR.
void hold_completions();
/// The `nth` message sent from now on completes with this status and moves its queue pair to ERR.
void fail_message(ibv_wc_status status, std::uint32_t vendor_error, int nth);
/// The `nth` message sent from now on is lost on its way (UC, UD).
void lose_message(int nth);
/// Every message arrives with its first byte changed.
void corrupt_messages();
/// ibv_query_qp reports this path MTU, whatever was set.
void report_path_mtu(ibv_mtu mtu);
/// Packets are cut at this MTU, whatever was set.
void cut_packets_at(std::uint32_t mtu_bytes);
/// ibv_create_qp grants this much inline data, whatever was asked for.
void grant_inline(std::uint32_t bytes);
/// Packets sent are written to hw_counters/sent_pkts under this root, as the kernel would.
void count_packets_in(const std::string& sysfs_root);
/// librdmacm: the next connection's ESTABLISHED comes only after the request for the one that follows.
void overtake_established();

}  // namespace fake_verbs
