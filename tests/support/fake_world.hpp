#pragma once
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/// What the parts of the fake libibverbs share: the objects, and what a test has staged. Tests use fake_verbs.hpp.
namespace fake_world {

struct FakeDevice {
  ibv_device device{};
  ibv_port_attr port{};
  ibv_device_attr attributes{};
  std::uint64_t packets = 0;
};

struct FakeChannel {
  ibv_comp_channel channel{};
  int write_end = -1;
  std::deque<ibv_cq*> events;
};

struct FakeCq {
  ibv_cq cq{};
  std::deque<ibv_wc> completions;
  bool armed = false;
};

struct PendingSend {
  ibv_send_wr request{};
  std::vector<std::byte> inlined;  // payload copied at post time
  ibv_sge entry{};
};

struct PendingReceive {
  std::uint64_t wr_id = 0;
  ibv_sge entry{};
};

struct FakeQp {
  ibv_qp qp{};
  std::uint32_t destination = 0;
  ibv_mtu path_mtu = IBV_MTU_256;
  std::uint32_t inline_bytes = 0;
  std::deque<PendingSend> sends;
  std::deque<PendingReceive> receives;
};

struct Staged {
  int error_number = 0;
  int countdown = 0;
};

struct World {
  std::mutex mutex;
  std::vector<std::unique_ptr<FakeDevice>> devices;
  std::map<std::uint32_t, FakeQp*> qps;
  std::map<std::string, Staged> staged;
  std::map<std::string, int> call_counts;
  std::map<std::string, int> refused_destroys;
  std::set<const void*> live;
  std::uint32_t next_qp_number = 0x11;
  int list_error = 0;
  bool hold = false;
  bool corrupt = false;
  int fail_countdown = 0;
  int lose_countdown = 0;
  ibv_wc_status fail_status = IBV_WC_SUCCESS;
  std::uint32_t fail_vendor_error = 0;
  int reported_mtu = 0;
  std::uint32_t cut_mtu_bytes = 0;
  int granted_inline = -1;
  std::string sysfs_root;
  bool overtake_established = false;
};

World& world();
FakeDevice& device_of(ibv_context* context);
FakeDevice& device_named(const std::string& name);

/// Counts the call; the errno it is to fail with, 0 for none.
int staged_error(const std::string& call);
/// The object is gone; what its destroy function is to return.
int destroyed(const char* call, const void* object);

template <class T>
T* born(T* object) {
  world().live.insert(object);
  return object;
}

/// The data path, reached through the context's table as libibverbs does.
int post_send(ibv_qp* raw, ibv_send_wr* list, ibv_send_wr** bad);
int post_recv(ibv_qp* raw, ibv_recv_wr* list, ibv_recv_wr** bad);
int poll_cq(ibv_cq* raw, int room, ibv_wc* out);
int req_notify_cq(ibv_cq* raw, int solicited_only);
/// Everything outstanding completes as flushed.
void flush(FakeQp& qp);

}  // namespace fake_world
