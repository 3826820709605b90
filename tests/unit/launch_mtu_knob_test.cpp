#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mtuscope/core/error.hpp"
#include "mtuscope/launch/mtu_knob.hpp"

namespace mtuscope::launch {
namespace {

TEST(MtuKnob, WritesThePathMtuAsEachLibraryReadsIt) {
  EXPECT_EQ(setting(find_knob("ucx"), PathMtu::mtu2048), "UCX_IB_PATH_MTU=2048");
  EXPECT_EQ(setting(find_knob("openib"), PathMtu::mtu256), "OMPI_MCA_btl_openib_mtu=1");
  EXPECT_EQ(setting(find_knob("openib"), PathMtu::mtu4096), "OMPI_MCA_btl_openib_mtu=5");
  EXPECT_EQ(setting(find_knob("mvapich2"), PathMtu::mtu1024), "MV2_DEFAULT_MTU=IBV_MTU_1024");
  EXPECT_EQ(setting(find_knob("mvapich"), PathMtu::mtu2048), "VIADEV_DEFAULT_MTU=MTU2048");
}

TEST(MtuKnob, AnotherSettingKeepsTheTextAroundTheBytes) {
  EXPECT_EQ(setting(parse_knob("UCX_UD_VERBS_SEG_SIZE=%d"), PathMtu::mtu1024), "UCX_UD_VERBS_SEG_SIZE=1024");
  EXPECT_EQ(setting(parse_knob("X=mtu%db"), PathMtu::mtu512), "X=mtu512b");
  for (const auto* bad : {"X", "X=", "=%d", "1X=%d", "X Y=%d", "%d=X", "X=2048", "X=%d%d", "X=%d%s", "X=100%%d"}) {
    EXPECT_THROW((void)parse_knob(bad), ConfigError) << bad;
  }
}

TEST(MtuKnob, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  try {
    (void)find_knob("lam");
    FAIL();
  } catch (const ConfigError& error) {
    for (const auto& knob : known_knobs()) EXPECT_THAT(error.what(), ::testing::HasSubstr(knob.name));
  }
}

}  // namespace
}  // namespace mtuscope::launch
