#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/model/catalog.hpp"
#include "mtuscope/model/hca_model.hpp"

namespace mtuscope::model {
namespace {

constexpr std::uint32_t kMpiHeaderBytes = 50;  // "approx 50 bytes larger" (openib-general, 2006)

struct PostedPoint {
  PathMtu path_mtu;
  std::uint64_t message_size_bytes;
  double posted_mb_per_s;
  double model_mb_per_s;
};

// posted: MPI bandwidth on Tavor, openib-general 2006, the mail's own digits.
// model: the least squares fit as the Python prototype of this model computes it.
constexpr auto kPosted = std::to_array<PostedPoint>({
    {PathMtu::mtu2048, 512, 140.394173, 140.328},
    {PathMtu::mtu2048, 1024, 310.553002, 321.677},
    {PathMtu::mtu2048, 1500, 407.003858, 401.135},
    {PathMtu::mtu2048, 1800, 435.538752, 440.113},
    {PathMtu::mtu2048, 2048, 392.831026, 393.283},
    {PathMtu::mtu2048, 4096, 417.592991, 416.683},
    {PathMtu::mtu1024, 512, 140.261964, 140.328},
    {PathMtu::mtu1024, 1024, 300.789425, 295.163},
    {PathMtu::mtu1024, 1500, 379.746835, 374.274},
    {PathMtu::mtu1024, 1800, 416.726957, 413.012},
    {PathMtu::mtu1024, 2048, 425.227096, 415.088},
    {PathMtu::mtu1024, 4096, 501.442289, 520.911},
});

HcaModel tavor() { return std::get<HcaModel>(find_model("model:tavor").value()); }
HcaModel tavor5() { return std::get<HcaModel>(find_model("model:tavor5").value()); }

Point make_point(Connection connection, std::uint64_t message_size_bytes, PathMtu path_mtu) {
  Point point;
  point.connection = connection;
  point.path_mtu = path_mtu;
  point.message_size_bytes = message_size_bytes;
  point.header_bytes = connection == Connection::mpi ? kMpiHeaderBytes : 0;
  return point;
}

// The mean over a whole trial, as a front end sees it.
double interval_ns(const HcaModel& model, Connection connection, std::uint64_t message_size_bytes, PathMtu path_mtu) {
  constexpr int kMessages = 10'000;
  MessageStream stream(model, make_point(connection, message_size_bytes, path_mtu));
  double end_ns = 0;
  for (int i = 0; i < kMessages; ++i) end_ns = stream.next_completion_ns();
  return end_ns / kMessages;
}

// The interval after the start has been forgotten, for scans over thousands of sizes.
double late_interval_ns(const HcaModel& model, std::uint64_t mpi_size_bytes, PathMtu path_mtu) {
  MessageStream stream(model, make_point(Connection::mpi, mpi_size_bytes, path_mtu));
  double end_ns = 0;
  for (int i = 0; i < 20; ++i) end_ns = stream.next_completion_ns();
  return stream.next_completion_ns() - end_ns;
}

double mb_per_s(const HcaModel& model, Connection connection, std::uint64_t message_size_bytes, PathMtu path_mtu) {
  return static_cast<double>(message_size_bytes) * 1e3 / interval_ns(model, connection, message_size_bytes, path_mtu);
}

double mpi_mb_per_s(std::uint64_t message_size_bytes, PathMtu path_mtu) {
  return mb_per_s(tavor(), Connection::mpi, message_size_bytes, path_mtu);
}

double largest_error(const HcaModel& model) {
  double largest = 0;
  for (const auto& point : kPosted) {
    const auto value = mb_per_s(model, Connection::mpi, point.message_size_bytes, point.path_mtu);
    largest = std::max(largest, std::abs(value / point.posted_mb_per_s - 1));
  }
  return largest;
}

double send_ns(const HcaParameters& hca, double packet_bytes) {
  return hca.packet_ns + std::max(packet_bytes * hca.bus_read_ns_per_byte,
                                  (packet_bytes + hca.wire_header_bytes) * hca.link_ns_per_byte);
}

std::uint64_t blocks(const HcaParameters& hca, std::uint64_t packet_bytes) {
  return (packet_bytes + hca.credit_header_bytes + hca.credit_block_bytes - 1) / hca.credit_block_bytes;
}

std::vector<std::uint64_t> cut(std::uint64_t wire_size_bytes, std::uint64_t limit_bytes) {
  std::vector<std::uint64_t> packets(static_cast<std::size_t>((wire_size_bytes - 1) / limit_bytes), limit_bytes);
  packets.push_back(wire_size_bytes - packets.size() * limit_bytes);
  return packets;
}

// The equations once more, in the plainest way: every message simulated, absolute time, credits returned as they fall
// due.
class PlainSimulation {
 public:
  explicit PlainSimulation(const HcaParameters& hca) : hca_(hca) {}

  // The mean interval of the second half of 40 messages.
  double interval_ns(std::uint64_t wire_size_bytes, std::uint64_t limit_bytes) {
    const auto packets = cut(wire_size_bytes, limit_bytes);
    for (int message = 0; message < 20; ++message) send_message(packets);
    const auto half_ns = now_ns_;
    for (int message = 0; message < 20; ++message) send_message(packets);
    return (now_ns_ - half_ns) / 20;
  }

 private:
  void send_message(const std::vector<std::uint64_t>& packets) {
    now_ns_ += hca_.message_overlapped_ns;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      take_credits(blocks(hca_, packets[i]));
      if (i == 0) now_ns_ += hca_.message_serial_ns;
      const auto size = static_cast<double>(packets[i]);
      now_ns_ += send_ns(hca_, size);
      drained_ns_ = std::max(now_ns_, drained_ns_) + size * hca_.bus_write_ns_per_byte;
      outstanding_.emplace_back(drained_ns_, blocks(hca_, packets[i]));
    }
  }
  void take_credits(std::uint64_t need) {
    while (!outstanding_.empty() && outstanding_.front().first <= now_ns_) release();
    while (used_ + need > hca_.credit_blocks) {
      now_ns_ = std::max(now_ns_, outstanding_.front().first);
      release();
    }
    used_ += need;
  }
  void release() {
    used_ -= outstanding_.front().second;
    outstanding_.pop_front();
  }

  HcaParameters hca_;
  std::deque<std::pair<double, std::uint64_t>> outstanding_;
  double now_ns_ = 0;
  double drained_ns_ = 0;
  std::uint64_t used_ = 0;
};

double plainly_simulated_ns(const HcaParameters& hca, std::uint64_t wire_size_bytes, std::uint64_t limit_bytes) {
  return PlainSimulation(hca).interval_ns(wire_size_bytes, limit_bytes);
}

// The engine's mean interval over the same messages.
double engine_ns(const HcaParameters& hca, std::uint64_t wire_size_bytes, std::uint64_t limit_bytes) {
  MessageEngine engine(hca, wire_size_bytes, limit_bytes);
  double sum_ns = 0;
  for (int message = 0; message < 40; ++message) {
    const auto interval_ns = engine.next_interval_ns();
    if (message >= 20) sum_ns += interval_ns;
  }
  return sum_ns / 20;
}

// T = max(a1 + a2 + sum of sends, a2 + sum over packets of which no two fit of (send + drain)).
double closed_form_ns(const HcaParameters& hca, std::uint64_t wire_size_bytes, std::uint64_t limit_bytes) {
  double pipe = hca.message_overlapped_ns + hca.message_serial_ns;
  double credit = hca.message_serial_ns;
  for (const auto packet : cut(wire_size_bytes, limit_bytes)) {
    const auto size = static_cast<double>(packet);
    pipe += send_ns(hca, size);
    if (2 * blocks(hca, packet) > hca.credit_blocks) credit += send_ns(hca, size) + size * hca.bus_write_ns_per_byte;
  }
  return std::max(pipe, credit);
}

TEST(ModelTavor, IsWithin4PercentOfAllPostedPoints) { EXPECT_LT(largest_error(tavor()), 0.04); }

TEST(ModelTavor, EqualsThePrototype) {
  for (const auto& point : kPosted) {
    EXPECT_NEAR(mpi_mb_per_s(point.message_size_bytes, point.path_mtu) / point.model_mb_per_s, 1, 1e-3)
        << to_bytes(point.path_mtu) << "/" << point.message_size_bytes;
  }
}

TEST(ModelTavor, OneCreditMoreBreaksTheFit) {
  auto model = tavor();
  model.hca.credit_blocks = 66;
  EXPECT_GT(largest_error(model), 0.04);
  model.hca.credit_blocks = 60;  // the table allows 60 to 65
  EXPECT_LT(largest_error(model), 0.04);
  model.hca.credit_blocks = 59;
  EXPECT_GT(largest_error(model), 0.04);
}

TEST(ModelTavor, FiveParametersAreWithin2_62Percent) { EXPECT_LT(largest_error(tavor5()), 0.0262); }

TEST(ModelTavor, HostFloorBelongsToMpiAlone) {
  auto without_floor = tavor5();
  without_floor.mpi = {};
  EXPECT_LT(mb_per_s(tavor5(), Connection::mpi, 1500, PathMtu::mtu2048),
            mb_per_s(without_floor, Connection::mpi, 1500, PathMtu::mtu2048));
  EXPECT_EQ(mb_per_s(tavor5(), Connection::rc, 1500, PathMtu::mtu2048),
            mb_per_s(without_floor, Connection::rc, 1500, PathMtu::mtu2048));
}

TEST(ModelTavor, SmallMessageClassEndsAt512AndNeedsAHeader) {
  EXPECT_NEAR(interval_ns(tavor(), Connection::mpi, 1, PathMtu::mtu1024), 3648.594, 0.01);
  EXPECT_NEAR(interval_ns(tavor(), Connection::mpi, 512, PathMtu::mtu2048), 3648.594, 0.01);
  EXPECT_LT(interval_ns(tavor(), Connection::mpi, 513, PathMtu::mtu2048), 3000);
  EXPECT_LT(interval_ns(tavor(), Connection::rc, 512, PathMtu::mtu2048), 3000);
}

// L1: messages below 1 KiB on the wire are equal.
TEST(ModelTavorLaws, EqualBelow1KiBOnTheWire) {
  const auto model = tavor();
  for (std::uint64_t size = 1; size <= 974; ++size) {
    ASSERT_EQ(late_interval_ns(model, size, PathMtu::mtu1024), late_interval_ns(model, size, PathMtu::mtu2048)) << size;
  }
}

// L2: from 1025 to 2024 on the wire the 2K MTU is better; L3: above it is worse, until two packets become one fewer.
TEST(ModelTavorLaws, CrossoversAre975_1975_2298_4023) {
  const auto model = tavor();
  std::vector<std::uint64_t> crossovers;
  int sign_before = 0;
  for (std::uint64_t size = 514; size < 9000; ++size) {
    const auto difference =
        late_interval_ns(model, size, PathMtu::mtu2048) / late_interval_ns(model, size, PathMtu::mtu1024) - 1;
    const int sign = std::abs(difference) < 1e-9 ? 0 : (difference > 0 ? 1 : -1);
    if (sign != sign_before) crossovers.push_back(size);
    sign_before = sign;
  }
  EXPECT_EQ(crossovers, (std::vector<std::uint64_t>{975, 1975, 2298, 4023}));
}

TEST(ModelTavorLaws, RatiosOfThePrototype) {
  const auto ratio = [](std::uint64_t size) {
    return mpi_mb_per_s(size, PathMtu::mtu1024) / mpi_mb_per_s(size, PathMtu::mtu2048);
  };
  EXPECT_NEAR(1 / ratio(1024), 1.090, 6e-4);
  EXPECT_NEAR(1 / ratio(1500), 1.072, 6e-4);
  EXPECT_NEAR(1 / ratio(1800), 1.066, 6e-4);
  EXPECT_NEAR(ratio(2048), 1.055, 6e-4);
  EXPECT_NEAR(ratio(4096), 1.250, 6e-4);
  EXPECT_NEAR(ratio(131'072), 1.564, 6e-4);
  EXPECT_NEAR(ratio(1'048'576), 1.576, 6e-4);
}

// L4, held out of the fit: "the 50% difference" at 128 KiB.
TEST(ModelTavorLaws, At128KiB1KIsAheadByHalf) {
  EXPECT_NEAR(mpi_mb_per_s(131'072, PathMtu::mtu1024), 691.8, 0.06);
  EXPECT_NEAR(mpi_mb_per_s(131'072, PathMtu::mtu2048), 442.2, 0.06);
  const auto five = [](PathMtu mtu) { return mb_per_s(tavor5(), Connection::mpi, 131'072, mtu); };
  EXPECT_NEAR(five(PathMtu::mtu1024), 656, 0.6);
  EXPECT_NEAR(five(PathMtu::mtu2048), 435, 0.6);
}

TEST(ModelTavor, ReliableConnectionEqualsThePrototype) {
  struct Row {
    std::uint64_t size;
    double at_1k;
    double at_2k;
  };
  constexpr auto kRows = std::to_array<Row>({{512, 202.6, 202.6},
                                             {1024, 327.7, 327.7},
                                             {1500, 379.8, 407.5},
                                             {2000, 441.2, 468.9},
                                             {2024, 443.7, 471.5},
                                             {2025, 443.8, 392.6},
                                             {2048, 446.2, 393.3},
                                             {4096, 544.8, 416.7},
                                             {8192, 612.4, 429.5},
                                             {65'536, 687.0, 441.3}});
  for (const auto connection : {Connection::rc, Connection::uc}) {
    for (const auto& row : kRows) {
      EXPECT_NEAR(mb_per_s(tavor(), connection, row.size, PathMtu::mtu1024), row.at_1k, 0.06) << row.size;
      EXPECT_NEAR(mb_per_s(tavor(), connection, row.size, PathMtu::mtu2048), row.at_2k, 0.06) << row.size;
    }
  }
}

// A datagram is one packet with 8 bytes of DETH, so a full 2K datagram waits for credits and still beats a full 1K one.
TEST(ModelTavor, DatagramsEqualThePrototype) {
  EXPECT_NEAR(mb_per_s(tavor(), Connection::ud, 1024, PathMtu::mtu1024), 326.7, 0.06);
  EXPECT_NEAR(mb_per_s(tavor(), Connection::ud, 1504, PathMtu::mtu2048), 407.0, 0.06);
  EXPECT_NEAR(mb_per_s(tavor(), Connection::ud, 2048, PathMtu::mtu2048), 392.0, 0.06);
}

TEST(MessageEngine, EqualsThePlainSimulationAndBecomesSteady) {
  const auto hca = tavor().hca;
  for (const std::uint64_t limit : {1024U, 2048U}) {
    for (std::uint64_t size = 1; size < 9000; size += 7) {
      MessageEngine engine(hca, size, limit);
      double interval = 0;
      for (int i = 0; i < 40; ++i) interval = engine.next_interval_ns();
      ASSERT_TRUE(engine.steady()) << limit << "/" << size;
      ASSERT_NEAR(interval / plainly_simulated_ns(hca, size, limit), 1, 1e-8) << limit << "/" << size;
    }
  }
}

// Few credits and a slow receiver, so that several packets of several messages are outstanding at once.
TEST(MessageEngine, EqualsThePlainSimulationWhenTheReceiverIsTheSlowEnd) {
  auto hca = tavor().hca;
  hca.bus_write_ns_per_byte *= 4;
  for (const std::uint32_t credit_blocks : {33U, 70U, 200U}) {
    hca.credit_blocks = credit_blocks;
    for (std::uint64_t size = 900; size < 7000; size += 61) {
      ASSERT_NEAR(engine_ns(hca, size, 1024) / plainly_simulated_ns(hca, size, 1024), 1, 1e-8)
          << credit_blocks << "/" << size;
    }
  }
}

TEST(MessageEngine, EqualsTheClosedFormWhereAllFullPacketsAreAlike) {
  const auto hca = tavor().hca;
  for (const std::uint64_t limit : {1024U, 2048U}) {
    for (const std::uint64_t size : {1024U, 1500U, 1800U, 2048U, 4096U, 8192U, 65'536U, 1'048'576U}) {
      MessageEngine engine(hca, size + kMpiHeaderBytes, limit);
      double interval = 0;
      for (int i = 0; i < 10; ++i) interval = engine.next_interval_ns();
      EXPECT_NEAR(interval / closed_form_ns(hca, size + kMpiHeaderBytes, limit), 1, 1e-8) << limit << "/" << size;
    }
  }
}

TEST(MessageEngine, RefusesAPacketThatNeedsMoreCreditsThanThereAre) {
  auto hca = tavor().hca;
  hca.credit_blocks = 32;
  EXPECT_THROW((MessageEngine{hca, 2048, 2048}), ConfigError);
  EXPECT_NO_THROW((MessageEngine{hca, 2048, 1024}));
}

TEST(ModelCatalog, FindsWhatItNames) {
  for (const auto name : model_names()) EXPECT_TRUE(find_model(name)) << name;
  EXPECT_FALSE(find_model("tavor"));
  EXPECT_FALSE(find_model("model:"));
}

}  // namespace
}  // namespace mtuscope::model
