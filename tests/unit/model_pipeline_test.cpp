#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "mtuscope/model/backend.hpp"
#include "mtuscope/model/synthetic.hpp"
#include "mtuscope/reference/tables.hpp"

namespace mtuscope::model {
namespace {

class GoOn final : public Watch {
 public:
  WatchVerdict check(bool /*progressed*/) noexcept override { return WatchVerdict::go_on; }
};

TrialReading run(Backend& backend, const Point& point) {
  SessionSpec spec;
  spec.path_mtu = point.path_mtu;
  GoOn watch;
  return backend.open(std::array{spec}, Role::initiator, nullptr)
      .front()
      ->run({.point = point, .messages = 1000}, watch);
}

double half_round_trip_ns(const Point& point) {
  const auto backend = make_model("model:connectx2");
  const auto reading = run(*backend, point);
  EXPECT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  EXPECT_EQ(reading.latency ? reading.latency->count() : 0, 1000U);
  return static_cast<double>(reading.elapsed_ns) / 2000.0;
}

TEST(PipelineModel, The51PostedPointsAreWithin1_2Percent) {
  const auto backend = make_model("model:connectx2");
  int compared = 0;
  for (const auto& [point, outcome] : reference::load_table("cx2-pingpong").points) {
    if (point.wait_mode != WaitMode::spin || backend->refusal(point, nullptr)) continue;
    const auto posted_ns = std::get<Measured>(outcome).summary.latency_ns.value().value;
    EXPECT_NEAR(half_round_trip_ns(point) / posted_ns, 1, 0.012) << describe(point);
    ++compared;
  }
  EXPECT_EQ(compared, 51);
}

TEST(PipelineModel, TheSmallerPathMtuWinsFrom2To64KiB) {
  for (std::uint64_t size = 2048; size <= 65536; size *= 2) {
    Point point;
    point.pattern = Pattern::ping_pong;
    point.message_size_bytes = size;
    const auto at = [&](PathMtu mtu) {
      point.path_mtu = mtu;
      return half_round_trip_ns(point);
    };
    EXPECT_LT(at(PathMtu::mtu1024), at(PathMtu::mtu2048)) << size;
    EXPECT_LE(at(PathMtu::mtu2048), at(PathMtu::mtu4096)) << size;
  }
}

TEST(SyntheticDevice, DropsAboveItsCapacityAndRecoversBelowTheHysteresis) {
  const auto backend = make_synthetic({.capacity_pages = 1000, .hysteresis_pages = 300});
  Point point;
  point.connection = Connection::gm;
  point.working_set = WorkingSet{.block_count = 100, .block_size_bytes = 65536};
  SessionSpec spec;
  GoOn watch;
  const auto session = std::move(backend->open(std::array{spec}, Role::initiator, nullptr).front());
  const auto dropped = [&](std::uint64_t pages, Pass pass) {
    point.message_size_bytes = pages * 4096;
    point.pass = pass;
    const auto reading = session->run({.point = point, .messages = 100}, watch);
    return static_cast<double>(reading.elapsed_ns) / 100 > 2000 + 1.5 * static_cast<double>(point.message_size_bytes);
  };
  for (std::uint64_t pages = 1; pages <= 16; ++pages) EXPECT_EQ(dropped(pages, Pass::up), pages > 10) << pages;
  for (std::uint64_t pages = 16; pages >= 1; --pages) EXPECT_EQ(dropped(pages, Pass::down), pages > 7) << pages;
  EXPECT_FALSE(dropped(9, Pass::none));
}

TEST(SyntheticDevice, NoiseStaysWithinItsBoundsAndRepeatsBySeed) {
  Point point;
  point.message_size_bytes = 4096;
  point.path_mtu = PathMtu::mtu1024;
  const auto first = make_synthetic({.noise = 0.1, .seed = 3});
  const auto second = make_synthetic({.noise = 0.1, .seed = 3});
  EXPECT_FALSE(first->deterministic());
  const auto elapsed = run(*first, point).elapsed_ns;
  EXPECT_EQ(elapsed, run(*second, point).elapsed_ns);
  EXPECT_NE(elapsed, run(*first, point).elapsed_ns);
  EXPECT_NEAR(static_cast<double>(elapsed) / 5'096'000.0, 1, 0.1);
}

}  // namespace
}  // namespace mtuscope::model
