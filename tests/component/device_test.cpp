#include "mtuscope/verbs/device/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "fake_sysfs.hpp"
#include "fake_verbs.hpp"
#include "mtuscope/verbs/device/catalog.hpp"
#include "mtuscope/verbs/device/gid_choice.hpp"

namespace mtuscope::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kLinkLocal = "fe80:0000:0000:0000:0000:0000:0000:0001";
constexpr const char* kIpv4 = "0000:0000:0000:0000:0000:ffff:0a63:0001";
constexpr const char* kGlobal = "2001:0db8:0000:0000:0000:0000:0000:0001";

TEST(GidChoice, PrefersRoceV2ThenIpv4ThenRoutableThenLinkLocal) {
  const GidInfo v1{0, kIpv4, "RoCE v1", ""};
  const GidInfo local{1, kLinkLocal, "RoCE v2", ""};
  const GidInfo global{2, kGlobal, "RoCE v2", ""};
  const GidInfo ipv4{3, kIpv4, "RoCE v2", ""};
  EXPECT_EQ(choose_gid("Ethernet", {v1, local, global, ipv4}).index, 3U);
  EXPECT_EQ(choose_gid("Ethernet", {v1, local, global}).index, 2U);
  EXPECT_EQ(choose_gid("Ethernet", {v1, local}).index, 1U);
  EXPECT_EQ(choose_gid("Ethernet", {v1}).index, 0U);
  EXPECT_THAT(choose_gid("Ethernet", {v1}).reason, HasSubstr("no RoCE v2"));
}

TEST(GidChoice, EqualOnesAreTakenByIndex) {
  EXPECT_EQ(choose_gid("Ethernet", {{5, kIpv4, "RoCE v2", ""}, {4, kIpv4, "RoCE v2", ""}}).index, 4U);
}

TEST(GidChoice, InfinibandTakesTheFirstAndAnEmptyTableGivesNone) {
  EXPECT_EQ(choose_gid("InfiniBand", {{0, kLinkLocal, "IB", ""}}).index, 0U);
  const auto none = choose_gid("Ethernet", {});
  EXPECT_FALSE(none.index);
  EXPECT_THAT(none.reason, HasSubstr("no GID"));
}

TEST(GidChoice, ReadsTheIpv4AddressOfAGid) {
  EXPECT_EQ(ipv4_of(kIpv4), "10.99.0.1");
  EXPECT_EQ(ipv4_of(kLinkLocal), "");
  EXPECT_EQ(ipv4_of("0000:0000:0000:0000:0000:ffff:zz63:0001"), "");
}

TEST(Catalog, FlagsTavorForItsFourVendorsOnly) {
  for (const std::uint32_t vendor : {0x2c9U, 0x5adU, 0x66aU, 0x8f1U}) EXPECT_TRUE(is_tavor(vendor, 0x5a44));
  EXPECT_FALSE(is_tavor(0x8086, 0x5a44));
  EXPECT_FALSE(is_tavor(0x2c9, 0x6278));
  EXPECT_THAT(part_name(0x2c9, 23108), AllOf(HasSubstr("MT23108"), HasSubstr("Tavor")));
  EXPECT_EQ(part_name(0x123456, 1), "");
}

class Device : public testing::Test {
 protected:
  Device() {
    fake_verbs::reset();
    for (const char* const name : {"fake0", "fake1"}) sysfs.device(name);
  }
  [[nodiscard]] counters::Sysfs files() const { return counters::Sysfs{sysfs.root()}; }
  /// What opening says when it fails.
  template <class Error>
  [[nodiscard]] std::string refusal(const DeviceRequest& request) const {
    try {
      (void)open_device(request, files());
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }

  FakeSysfs sysfs;
};

TEST_F(Device, IsListedWithEverythingSysfsKnows) {
  const std::string path = "class/infiniband/fake0/";
  sysfs.write(path + "board_id", "MT_0000000010");
  sysfs.write(path + "fw_ver", "16.35.4030");
  sysfs.write(path + "node_type", "1: CA");
  sysfs.write("devices/0000:17:00.0/numa_node", "1");
  sysfs.write("devices/0000:17:00.0/current_link_speed", "8.0 GT/s PCIe");
  sysfs.write("devices/0000:17:00.0/current_link_width", "8");
  sysfs.link("devices/0000:17:00.0/driver", "../drivers/mlx5_core");
  sysfs.link(path + "device", "../../../devices/0000:17:00.0");
  sysfs.write("class/net/net-fake0/mtu", "9000");
  fake_verbs::attributes("fake0").vendor_id = 0x2c9;
  fake_verbs::attributes("fake0").vendor_part_id = 4119;
  const auto devices = list_devices(files());
  ASSERT_EQ(devices.size(), 2U);
  const auto& device = devices.front();
  EXPECT_THAT(device.part_name, HasSubstr("ConnectX-5"));
  EXPECT_EQ(device.firmware, "16.35.4030");
  EXPECT_EQ(device.board_id, "MT_0000000010");
  EXPECT_EQ(device.node_type, "CA");
  EXPECT_EQ(device.driver, "mlx5_core");
  EXPECT_EQ(device.numa_node, 1);
  EXPECT_EQ(device.pci_address, "0000:17:00.0");
  EXPECT_EQ(device.pci_link, "8.0 GT/s PCIe x8");
  ASSERT_EQ(device.ports.size(), 1U);
  const auto& port = device.ports.front();
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_EQ(port.active_mtu, PathMtu::mtu4096);
  EXPECT_EQ(port.netdev, "net-fake0");
  EXPECT_EQ(port.netdev_mtu_bytes, 9000U);
  EXPECT_EQ(port.chosen_gid_index, 0U);
}

TEST_F(Device, ThatCannotBeOpenedIsStillListed) {
  fake_verbs::fail_call("ibv_open_device", EACCES);
  const auto devices = list_devices(files());
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_TRUE(devices[0].ports.empty());
  EXPECT_EQ(devices[1].ports.size(), 1U);
}

TEST_F(Device, AKernelWithoutRdmaHasNoDevices) {
  fake_verbs::fail_device_list(ENOSYS);
  EXPECT_TRUE(list_devices(files()).empty());
  EXPECT_THAT(refusal<ConfigError>({"mlx5_0", {}, {}}), HasSubstr("no RDMA device"));
}

TEST_F(Device, AListThatFailsIsAnError) {
  fake_verbs::fail_device_list(ENOMEM);
  EXPECT_THROW((void)list_devices(files()), VerbsError);
}

TEST_F(Device, AnUnknownNameListsThoseThereAre) {
  EXPECT_THAT(refusal<ConfigError>({"mlx5_9", {}, {}}),
              AllOf(HasSubstr("mlx5_9"), HasSubstr("fake0"), HasSubstr("fake1")));
}

TEST_F(Device, APortThatIsDownSaysWhatToBringUp) {
  fake_verbs::port("fake0").state = IBV_PORT_DOWN;
  EXPECT_THAT(refusal<RunError>({"fake0", {}, {}}), AllOf(HasSubstr("DOWN"), HasSubstr("net-fake0")));
  EXPECT_EQ(open_device({"", {}, {}}, files()).info.name, "fake1");  // the first that is active
}

TEST_F(Device, UnknownPortsAndGidsSayWhatThereIs) {
  EXPECT_THAT(refusal<ConfigError>({"fake0", 2U, {}}), HasSubstr("no port 2"));
  EXPECT_THAT(refusal<ConfigError>({"fake0", {}, 3U}), AllOf(HasSubstr("index 3"), HasSubstr("there are 0")));
}

TEST_F(Device, APortWithoutGidIsRefused) {
  sysfs.write("class/infiniband/fake0/ports/1/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000");
  EXPECT_THAT(refusal<RunError>({"fake0", {}, {}}), HasSubstr("no usable GID"));
}

}  // namespace
}  // namespace mtuscope::verbs
