#include <gtest/gtest.h>

#include <random>

#include "mtuscope/analysis/blocks.hpp"

namespace mtuscope::analysis {
namespace {

/// A device that is slow above so many pages per cycle on each way; 0: never.
struct Device {
  std::uint64_t up_pages = 0;
  std::uint64_t down_pages = 0;
  double noise = 0;
};

void add_pass(records::ResultSet& record, const Device& device, Pass pass, const WorkingSet& set,
              std::mt19937& random) {
  std::normal_distribution<double> noise(1, device.noise);
  const auto limit = pass == Pass::down ? device.down_pages : device.up_pages;
  for (std::uint64_t size = 1024; size <= set.block_size_bytes; size += 1024) {
    Point point;
    point.connection = Connection::gm;
    point.working_set = set;
    point.pass = pass;
    point.message_size_bytes = size;
    const auto pages = size / 4096 + (size % 4096 == 0 ? 0 : 1);
    double us = 5.4 + static_cast<double>(size) / 240;
    if (limit != 0 && set.order == ReuseOrder::fifo && set.block_count * pages > limit) {
      us += 5 * static_cast<double>(pages);
    }
    if (device.noise > 0) us *= noise(random);
    Measured measured;
    measured.summary.exact = device.noise == 0;
    measured.summary.bandwidth_bytes_per_s = Estimate{static_cast<double>(size) / us * 1e6, {}, {}};
    record.points.push_back({point, measured});
  }
}

records::ResultSet record_of(const Device& device, const std::vector<std::uint64_t>& counts, unsigned seed = 1,
                             ReuseOrder order = ReuseOrder::fifo) {
  records::ResultSet record;
  std::mt19937 random(seed);
  for (const auto count : counts) {
    WorkingSet set;
    set.block_count = count;
    set.block_size_bytes = 32768;
    set.order = order;
    add_pass(record, device, Pass::up, set, random);
    add_pass(record, device, Pass::down, set, random);
  }
  return record;
}

TEST(BlockStudy, PagesPerCycleCountStartedPages) {
  WorkingSet set;
  set.block_count = 2400;
  EXPECT_EQ(pages_per_cycle(set, 28672), 16800U);
  EXPECT_EQ(pages_per_cycle(set, 28673), 19200U);
}

TEST(BlockStudy, EdgesAreThoseOfThePostedConvention) {
  const auto study = study_blocks(record_of({16999, 16600, 0}, {2200, 2400, 2800, 3300, 3400}));
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> kilobytes{
      {28, 28}, {28, 24}, {24, 20}, {20, 20}, {16, 16}};
  ASSERT_EQ(study.curves.size(), kilobytes.size());
  for (std::size_t i = 0; i < kilobytes.size(); ++i) {
    EXPECT_EQ(study.curves[i].up_edge->good_size_bytes, kilobytes[i].first * 1024);
    EXPECT_EQ(study.curves[i].up_edge->dropped_size_bytes, (kilobytes[i].first + 1) * 1024);
    EXPECT_EQ(study.curves[i].down_edge->good_size_bytes, kilobytes[i].second * 1024);
  }
  EXPECT_DOUBLE_EQ(*study.curves[0].loop_area_bytes, 0);
  EXPECT_GT(*study.curves[1].loop_area_bytes, 500);
  EXPECT_TRUE(study.collapses);
  EXPECT_EQ(study.capacity, (CapacityInterval{16500, 17000}));
  EXPECT_EQ(judge_need(study, 200'000'000), NeedVerdict::fail);
  EXPECT_EQ(judge_need(study, 16500U * 4096), NeedVerdict::pass);
  EXPECT_EQ(judge_need(study, 16501U * 4096), NeedVerdict::undecided);
}

TEST(BlockStudy, AKnownCliffIsFoundWithinOneStepAtRandomSettings) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::uint64_t count = 1000 + random() % 3000;
    const std::uint64_t up = 4 + random() % 4;  // the last good number of pages of a message
    const std::uint64_t down = up - (seed % 2) * (1 + random() % 2);
    const auto study = study_blocks(record_of({count * up, count * down, 0.02}, {count}, seed));
    ASSERT_TRUE(study.curves[0].up_edge && study.curves[0].down_edge);
    EXPECT_NEAR(static_cast<double>(study.curves[0].up_edge->good_size_bytes), static_cast<double>(up * 4096), 1024);
    EXPECT_NEAR(static_cast<double>(study.curves[0].down_edge->good_size_bytes), static_cast<double>(down * 4096),
                1024);
  }
}

TEST(BlockStudy, NoCliffIsFoundWhereThereIsNone) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto study = study_blocks(record_of({0, 0, 0.02}, {500 + 100 * seed}, seed));
    EXPECT_FALSE(study.curves[0].up_edge || study.curves[0].down_edge);
    EXPECT_EQ(study.capacity, (CapacityInterval{study.largest_page_count, std::nullopt}));
  }
}

// As results/examples/hysteresis.json: a size that is dropped must not pull the floor up when there are few.
TEST(BlockStudy, ThreeSizesAreEnoughForBothEdges) {
  auto record = record_of({16800, 14400, 0}, {2400});
  std::erase_if(record.points, [](const records::PointResult& result) {
    const auto size = result.point.message_size_bytes;
    return size != 20480 && size != 24576 && size != 28672;
  });
  for (auto& result : record.points) {  // dropped from 28 KiB on on the way up, from 24 KiB on on the way down
    const auto size = result.point.message_size_bytes;
    const bool bad = size == 28672 || (size == 24576 && result.point.pass == Pass::down);
    std::get<Measured>(result.outcome).summary.bandwidth_bytes_per_s->value = bad ? 111e6 : 166e6;
  }
  const auto study = study_blocks(record);
  ASSERT_TRUE(study.curves[0].up_edge && study.curves[0].down_edge);
  EXPECT_EQ(study.curves[0].up_edge->good_size_bytes, 24576U);
  EXPECT_EQ(study.curves[0].down_edge->good_size_bytes, 20480U);
  EXPECT_EQ(study.capacity, (CapacityInterval{12000, 16800}));
}

TEST(BlockStudy, WorkingSetsThatDisagreeDoNotCollapse) {
  auto record = record_of({9000, 9000, 0}, {2000});
  for (auto& point : record_of({20000, 20000, 0}, {3000}).points) record.points.push_back(point);
  const auto study = study_blocks(record);
  EXPECT_FALSE(study.collapses);
  EXPECT_EQ(judge_need(study, 1), NeedVerdict::undecided);
}

TEST(BlockStudy, LifoSaysNothingAboutTheCapacityAndNoPointsAreNoStudy) {
  const auto study = study_blocks(record_of({9000, 9000, 0}, {4000}, 1, ReuseOrder::lifo));
  EXPECT_FALSE(study.curves[0].up_edge);
  EXPECT_EQ(judge_need(study, 1), NeedVerdict::undecided);
  EXPECT_TRUE(study_blocks({}).curves.empty());
  EXPECT_THROW((void)study_blocks({}, {0}), std::invalid_argument);
}

}  // namespace
}  // namespace mtuscope::analysis
