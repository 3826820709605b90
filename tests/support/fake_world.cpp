// What tests stage and count. See fake_verbs.hpp.
#include "fake_world.hpp"

#include <cstdlib>
#include <cstring>

#include "fake_verbs.hpp"

namespace fake_world {

World& world() {
  static World instance;
  return instance;
}

FakeDevice& device_of(ibv_context* context) {
  for (auto& device : world().devices) {
    if (&device->device == context->device) return *device;
  }
  std::abort();
}

FakeDevice& device_named(const std::string& name) {
  for (auto& device : world().devices) {
    if (name == device->device.name) return *device;
  }
  std::abort();
}

int staged_error(const std::string& call) {
  ++world().call_counts[call];
  const auto found = world().staged.find(call);
  if (found == world().staged.end() || --found->second.countdown > 0) return 0;
  const int error_number = found->second.error_number;
  world().staged.erase(found);
  return error_number;
}

int destroyed(const char* call, const void* object) {
  world().live.erase(object);
  const auto found = world().refused_destroys.find(call);
  return found == world().refused_destroys.end() ? 0 : found->second;
}

}  // namespace fake_world

using fake_world::device_named;
using fake_world::FakeDevice;
using fake_world::world;

namespace fake_verbs {

void reset() {
  auto& w = world();
  const std::scoped_lock lock{w.mutex};
  w.devices.clear();
  for (int i = 0; i < 2; ++i) {
    auto device = std::make_unique<FakeDevice>();
    ("fake" + std::to_string(i)).copy(device->device.name, sizeof(device->device.name) - 1);
    device->port.state = IBV_PORT_ACTIVE;
    device->port.phys_state = 5;
    device->port.max_mtu = IBV_MTU_4096;
    device->port.active_mtu = IBV_MTU_4096;
    device->port.link_layer = IBV_LINK_LAYER_ETHERNET;
    device->port.gid_tbl_len = 4;
    device->port.max_msg_sz = 1U << 23U;
    device->port.active_speed = 8;
    device->port.active_width = 1;
    device->attributes.phys_port_cnt = 1;
    device->attributes.vendor_id = 0xffffff;
    device->attributes.max_qp_wr = 16384;
    device->attributes.max_qp = 1024;
    device->attributes.max_cqe = 32767;
    device->attributes.max_qp_rd_atom = 16;
    device->attributes.max_qp_init_rd_atom = 4;
    std::strcpy(device->attributes.fw_ver, "1.2.3");
    w.devices.push_back(std::move(device));
  }
  w.staged.clear();
  w.call_counts.clear();
  w.refused_destroys.clear();
  w.list_error = 0;
  w.hold = false;
  w.corrupt = false;
  w.fail_countdown = 0;
  w.lose_countdown = 0;
  w.reported_mtu = 0;
  w.cut_mtu_bytes = 0;
  w.granted_inline = -1;
  w.sysfs_root.clear();
  w.overtake_established = false;
}

ibv_port_attr& port(const std::string& device) { return device_named(device).port; }
ibv_device_attr& attributes(const std::string& device) { return device_named(device).attributes; }
void fail_device_list(int error_number) { world().list_error = error_number; }
void fail_call(const std::string& call, int error_number, int nth) { world().staged[call] = {error_number, nth}; }
int calls(const std::string& call) { return world().call_counts[call]; }
void refuse_destroy(const std::string& call, int error_number) { world().refused_destroys[call] = error_number; }
int live_objects() { return static_cast<int>(world().live.size()); }
void hold_completions() { world().hold = true; }
void fail_message(ibv_wc_status status, std::uint32_t vendor_error, int nth) {
  world().fail_status = status;
  world().fail_vendor_error = vendor_error;
  world().fail_countdown = nth;
}
void lose_message(int nth) { world().lose_countdown = nth; }
void corrupt_messages() { world().corrupt = true; }
void report_path_mtu(ibv_mtu mtu) { world().reported_mtu = mtu; }
void cut_packets_at(std::uint32_t mtu_bytes) { world().cut_mtu_bytes = mtu_bytes; }
void grant_inline(std::uint32_t bytes) { world().granted_inline = static_cast<int>(bytes); }
void count_packets_in(const std::string& sysfs_root) { world().sysfs_root = sysfs_root; }
void overtake_established() { world().overtake_established = true; }

}  // namespace fake_verbs
