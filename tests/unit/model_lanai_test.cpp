/// The posted drop table of the GM page through the session and the stream kernel of a sweep. The oracle is the Python
/// prototype of docs/models.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "lru_page_cache.hpp"
#include "mtuscope/model/backend.hpp"
#include "mtuscope/transport/peerless_session.hpp"

namespace mtuscope::model {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMessages = 16'000;
/// The page states no number of messages per size; the edges of a rise from 1 KiB depend on it (docs/models.md).
constexpr std::uint64_t kManyMessages = 32'000;
constexpr double kPageMissNs = 5000;

class GoOn final : public Watch {
 public:
  WatchVerdict check(bool /*progressed*/) noexcept override { return WatchVerdict::go_on; }
};

LanaiModel lanai(std::string_view name) { return std::get<LanaiModel>(find_model(name).value()); }

Point gm_point(std::uint64_t blocks, std::uint64_t size_bytes, ReuseOrder order = ReuseOrder::fifo) {
  Point point;
  point.connection = Connection::gm;
  point.message_size_bytes = size_bytes;
  point.tx_depth = 8;
  point.working_set = WorkingSet{.block_count = blocks, .block_size_bytes = 32 * kKiB, .order = order};
  return point;
}

SessionSpec gm_spec() {
  SessionSpec spec;
  spec.connection = Connection::gm;
  spec.path_mtu.reset();
  spec.tx_depth = 8;
  return spec;
}

std::unique_ptr<Session> open_model(std::string_view name) {
  return std::move(make_model(name)->open(std::array{gm_spec()}, Role::initiator, nullptr).front());
}

template <class Cache>
std::unique_ptr<Session> open_with(const LanaiModel& model) {
  using Channel = SimulatedChannel<LanaiDevice<Cache>>;
  Channel channel(model, 1);
  const SimulatedClock clock(channel.now_ns());
  return std::make_unique<PeerlessSession<Channel, SimulatedClock>>(std::move(channel), clock, gm_spec());
}

/// The share of pages missed, from the time that a trial took.
double miss_ratio(Session& session, const Point& point, const LanaiModel& model, std::uint64_t messages = kMessages) {
  GoOn watch;
  const auto reading = session.run({.point = point, .messages = messages}, watch);
  EXPECT_EQ(reading.status, TrialStatus::ok) << reading.reason;
  const auto hit_ns = model.message_ns + static_cast<double>(point.message_size_bytes) * model.ns_per_byte;
  const auto pages = static_cast<double>(lanai_pages(point.message_size_bytes));
  return (static_cast<double>(reading.elapsed_ns) / static_cast<double>(messages) - hit_ns) / (pages * kPageMissNs);
}

/// The last good size going up, and the last good size under the drop coming down [KiB].
struct Edges {
  int up = 0;
  int down = 0;
};

Edges edges_of(Session& session, std::uint64_t blocks, const LanaiModel& model, std::uint64_t messages = kMessages) {
  constexpr int kLargest = 32;
  constexpr double kDrop = 0.5;
  Edges edges{kLargest, kLargest};
  const auto dropped = [&](int kib, Pass pass) {
    auto point = gm_point(blocks, static_cast<std::uint64_t>(kib) * kKiB);
    point.pass = pass;
    return miss_ratio(session, point, model, messages) > kDrop;
  };
  for (int kib = 1; kib <= kLargest; ++kib) {
    if (dropped(kib, Pass::up) && edges.up == kLargest) edges.up = kib - 1;
  }
  bool recovered = false;
  for (int kib = kLargest; kib >= 1; --kib) {
    const bool bad = dropped(kib, Pass::down);
    if (bad && !recovered) edges.down = kib - 1;
    recovered = recovered || !bad;
  }
  return edges;
}

struct Row {
  std::uint64_t blocks;
  int up;
  int down;
};
/// The page's six rows; a hysteresis row has two edges.
constexpr std::array kPosted{Row{2200, 28, 28}, Row{2400, 28, 24}, Row{2500, 24, 24},
                             Row{2800, 24, 20}, Row{3300, 20, 20}, Row{3400, 16, 16}};

/// How the twelve edges meet the posted ones.
struct Agreement {
  int exact = 0;
  int largest_error_kib = 0;
};

Agreement agreement_of(std::string_view name, std::uint64_t messages) {
  Agreement agreement;
  for (const auto& row : kPosted) {
    const auto session = open_model(name);
    const auto edges = edges_of(*session, row.blocks, lanai(name), messages);
    for (const int error : {std::abs(edges.up - row.up), std::abs(edges.down - row.down)}) {
      agreement.exact += error == 0 ? 1 : 0;
      agreement.largest_error_kib = std::max(agreement.largest_error_kib, error);
    }
  }
  return agreement;
}

TEST(LanaiModel, With32000MessagesASizeElevenOfTwelveEdgesAreExactWellUnder10s) {
  const auto begin = std::clock();
  const auto agreement = agreement_of("model:lanai9", kManyMessages);
  EXPECT_EQ(agreement.exact, 11);
  EXPECT_EQ(agreement.largest_error_kib, 1);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 10.0);
}

// Short of what was hoped for: 3400 blocks drop at 19 instead of 16 KiB. The Python prototype says 19 as well when it
// rises from 1 KiB; its 17 needs a start at 12 KiB.
TEST(LanaiModel, With16000MessagesASizeNineOfTwelveEdgesAreExact) {
  const auto agreement = agreement_of("model:lanai9", kMessages);
  EXPECT_EQ(agreement.exact, 9);
  EXPECT_EQ(agreement.largest_error_kib, 3);
}

TEST(LanaiModel, TheAssumedVariantHasTenOfTwelveWith32000Messages) {
  const auto agreement = agreement_of(kAssumedLanaiName, kManyMessages);
  EXPECT_EQ(agreement.exact, 10);
  EXPECT_EQ(agreement.largest_error_kib, 1);
}

TEST(LanaiModel, OneSessionMeasuresAllRowsAsSessionsOfTheirOwnDo) {
  const auto session = open_model("model:lanai9");
  const auto model = lanai("model:lanai9");
  for (const auto& row : kPosted) {
    const auto alone = open_model("model:lanai9");
    const auto expected = edges_of(*alone, row.blocks, model);
    const auto edges = edges_of(*session, row.blocks, model);
    EXPECT_EQ(edges.up, expected.up) << row.blocks;
    EXPECT_EQ(edges.down, expected.down) << row.blocks;
  }
}

TEST(LanaiModel, LeastRecentlyUsedLosesTheHysteresis) {
  auto model = lanai("model:lanai9");
  model.cache_entries = 16600;
  for (const auto& row : kPosted) {
    const auto session = open_with<test::LruPageCache>(model);
    const auto edges = edges_of(*session, row.blocks, model);
    EXPECT_EQ(edges.up, edges.down) << row.blocks;
    EXPECT_LT(edges.up, 29) << row.blocks;
  }
}

TEST(LanaiModel, BlocksOf4KiBDropBetween16000And17000) {
  const auto session = open_model("model:lanai9");
  const auto ratio = [&](std::uint64_t blocks) {
    auto point = gm_point(blocks, 4 * kKiB);
    point.working_set->block_size_bytes = 4 * kKiB;
    return miss_ratio(*session, point, lanai("model:lanai9"));
  };
  EXPECT_NEAR(ratio(16'000), 0, 1e-6);
  EXPECT_NEAR(ratio(17'000), 1, 1e-6);
}

TEST(LanaiModel, OrderDecides) {
  const auto session = open_model("model:lanai9");
  const auto ratio = [&](ReuseOrder order, std::uint64_t blocks) {
    return miss_ratio(*session, gm_point(blocks, 28 * kKiB, order), lanai("model:lanai9"));
  };
  for (const std::uint64_t blocks : {8U, 2800U, 17'000U, 100'000U}) {
    EXPECT_NEAR(ratio(ReuseOrder::lifo, blocks), 0, 1e-6) << blocks;
  }
  EXPECT_NEAR(ratio(ReuseOrder::fifo, 2800), 1, 1e-6);
  EXPECT_NEAR(ratio(ReuseOrder::random, 2800), 0.165, 0.03);
  // Every other cycle misses 0.16 and 0.84 of its pages: half over a trial.
  EXPECT_NEAR(ratio(ReuseOrder::sawtooth, 2800), 0.5, 0.05);
}

TEST(LanaiModel, RefusesWhatItHasNoEquationFor) {
  const auto backend = make_model("model:lanai9");
  const auto refusal = [&](const Point& point) { return backend->refusal(point, nullptr).value_or("accepted"); };
  auto point = gm_point(2800, 4096);
  EXPECT_EQ(refusal(point), "accepted");
  point.path_mtu = PathMtu::mtu2048;
  EXPECT_THAT(refusal(point), HasSubstr("path MTU 2048"));
  point = gm_point(2800, 4096);
  point.connection = Connection::rc;
  EXPECT_THAT(refusal(point), HasSubstr("gm only"));
  EXPECT_THAT(refusal(gm_point(2800, 33 * kKiB)), HasSubstr("above the block size"));
  EXPECT_THAT(refusal(gm_point(10'000'000, 4096)), HasSubstr("above 16 GiB"));
  point = gm_point(2800, 4096);
  point.working_set->page_size_bytes = 2U << 20U;
  EXPECT_THAT(refusal(point), HasSubstr("pages of 2097152 B"));
}

TEST(LanaiModel, SaysWhatIsAssumed) {
  EXPECT_THAT(std::string(model_assumption("model:lanai9")), HasSubstr("assumption"));
  EXPECT_THAT(std::string(model_assumption(kAssumedLanaiName)), HasSubstr("53 blocks"));
  EXPECT_TRUE(model_assumption("model:tavor").empty());
}

TEST(LanaiModel, AnUnstatedPathMtuIsNotProved) {
  GoOn watch;
  EXPECT_ANY_THROW((void)open_model("model:lanai9")->prove_mtu(watch));
}

}  // namespace
}  // namespace mtuscope::model
