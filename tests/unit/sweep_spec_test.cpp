#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/sweep/planner.hpp"
#include "mtuscope/sweep/spec.hpp"
#include "property.hpp"

namespace mtuscope::sweep {
namespace {

using Sizes = std::vector<std::uint64_t>;

SweepSpec spec_of(std::vector<PathMtu> mtus, Sizes sizes) {
  SweepSpec spec;
  spec.path_mtus = std::move(mtus);
  spec.message_sizes_bytes = std::move(sizes);
  return spec;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseSizes, ReadsListsRangesAndUnions) {
  EXPECT_EQ(parse_sizes("512,1K,1500"), (Sizes{512, 1024, 1500}));
  EXPECT_EQ(parse_sizes("1:16"), (Sizes{1, 2, 4, 8, 16}));
  EXPECT_EQ(parse_sizes("3:20"), (Sizes{3, 6, 12}));
  EXPECT_EQ(parse_sizes("1K:4K:+1K"), (Sizes{1024, 2048, 3072, 4096}));
  EXPECT_EQ(parse_sizes("2K,1:4,1KiB,1K"), (Sizes{1, 2, 4, 1024, 2048}));
  EXPECT_EQ(parse_sizes("1:1M").size(), 21U);
  EXPECT_EQ(parse_sizes("2G"), (Sizes{std::uint64_t{1} << 31U}));
}

TEST(ParseSizes, NamesTheBadPart) {
  for (const auto* bad : {"0", "5G", "", "1,,2", "x", "1K:", "8:1", "1:2:3", "1:2:+0", "1:2:+1:4", "4kB", "-1", "1.5K",
                          "99999999999999999999", "1:200000:+1"}) {
    EXPECT_THROW((void)parse_sizes(bad), ConfigError) << bad;
  }
  EXPECT_NE(error_of([] { (void)parse_sizes("512,5G"); }).find("'5G'"), std::string::npos);
  EXPECT_NE(error_of([] { (void)parse_sizes("0"); }).find("'0'"), std::string::npos);
}

TEST(ParsePathMtus, KnowsTheFive) {
  EXPECT_EQ(parse_path_mtus("1K,2048,256"), (std::vector{PathMtu::mtu1024, PathMtu::mtu2048, PathMtu::mtu256}));
  EXPECT_THROW((void)parse_path_mtus("1000"), ConfigError);
  EXPECT_THROW((void)parse_path_mtus("8K"), ConfigError);
  EXPECT_NE(error_of([] { (void)parse_path_mtus("1000"); }).find("256, 512, 1K, 2K and 4K"), std::string::npos);
}

TEST(DefaultSizes, HavePowersOfTwoAndEveryMtuEdge) {
  const auto sizes = default_sizes({PathMtu::mtu1024, PathMtu::mtu2048});
  for (const std::uint64_t wanted : {1U, 1023U, 1024U, 1025U, 4095U, 4097U, 8191U, 8193U, 1048576U}) {
    EXPECT_TRUE(std::binary_search(sizes.begin(), sizes.end(), wanted)) << wanted;
  }
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  EXPECT_EQ(std::adjacent_find(sizes.begin(), sizes.end()), sizes.end());
}

TEST(Check, SaysWhichOptionsContradict) {
  auto spec = spec_of({PathMtu::mtu1024}, {64});
  EXPECT_NO_THROW(check(spec));
  spec.cq_mod = 200;
  EXPECT_NE(error_of([&] { check(spec); }).find("--cq-mod"), std::string::npos);
  spec = spec_of({PathMtu::mtu1024}, {64});
  spec.post_list = 129;
  EXPECT_NE(error_of([&] { check(spec); }).find("--post-list"), std::string::npos);
  spec = spec_of({PathMtu::mtu1024}, {64});
  spec.rx_depth = 8;
  EXPECT_NO_THROW(check(spec)) << "RC has no credits";
  spec.connections = {Connection::ud};
  EXPECT_NE(error_of([&] { check(spec); }).find("--rx-depth"), std::string::npos);
  spec.flow_control = false;
  EXPECT_NO_THROW(check(spec));
}

TEST(Check, RefusesAListThatTheCreditWindowNeverHolds) {
  auto spec = spec_of({PathMtu::mtu1024}, {64});
  spec.connections = {Connection::ud};
  spec.rx_depth = 40;
  spec.post_list = 32;
  EXPECT_NO_THROW(check(spec));
  spec.post_list = 33;
  EXPECT_NE(error_of([&] { check(spec); }).find("--post-list"), std::string::npos);
}

TEST(Check, RefusesHereWhatThePeerWouldRefuse) {
  auto spec = spec_of({PathMtu::mtu1024}, {64});
  spec.timeout_ns = kMaxTimeoutNs;
  EXPECT_NO_THROW(check(spec));
  spec.timeout_ns = kMaxTimeoutNs + 1;
  EXPECT_NE(error_of([&] { check(spec); }).find("--timeout"), std::string::npos);
}

TEST(PlanHash, ChangesWithWhatIsMeasured) {
  const auto spec = spec_of({PathMtu::mtu1024}, {64});
  auto other = spec;
  EXPECT_EQ(plan_hash(spec), plan_hash(other));
  other.seed = 2;
  EXPECT_NE(plan_hash(spec), plan_hash(other));
  other = spec;
  other.message_sizes_bytes = {65};
  EXPECT_NE(plan_hash(spec), plan_hash(other));
}

TEST(Planner, PutsTheMtusOfOneSizeNextToEachOther) {
  const auto points = plan_points(spec_of({PathMtu::mtu1024, PathMtu::mtu2048}, {64, 128}));
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].path_mtu, PathMtu::mtu1024);
  EXPECT_EQ(points[1].path_mtu, PathMtu::mtu2048);
  EXPECT_EQ(points[1].message_size_bytes, 64U);
  EXPECT_EQ(points[2].message_size_bytes, 128U);
}

TEST(Planner, SegmentsOnlyDatagramsAboveTheLimit) {
  auto spec = spec_of({PathMtu::mtu1024}, {1024, 1025});
  spec.connections = {Connection::ud};
  spec.segment = true;
  const auto points = plan_points(spec);
  EXPECT_FALSE(points[0].segmented);
  EXPECT_TRUE(points[1].segmented);
}

TEST(RoundOrder, RunsAbbaWithinAGroup) {
  const auto points = plan_points(spec_of({PathMtu::mtu1024, PathMtu::mtu2048}, {64}));
  EXPECT_EQ(round_order(points, 1, 0), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(round_order(points, 1, 1), (std::vector<std::size_t>{1, 0}));
}

TEST(RoundOrder, IsAPermutationThatKeepsGroupsTogether) {
  const auto keeps_groups = [](std::uint64_t seed, std::uint32_t round) {
    const auto points =
        plan_points(spec_of({PathMtu::mtu512, PathMtu::mtu1024, PathMtu::mtu4096}, {1, 2, 3, 4, 5, 6, 7}));
    const auto order = round_order(points, seed, round);
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) RC_ASSERT(sorted[i] == i);
    for (std::size_t i = 0; i < order.size(); i += 3) {
      RC_ASSERT(order[i] / 3 == order[i + 1] / 3);
      RC_ASSERT(order[i] / 3 == order[i + 2] / 3);
    }
    RC_ASSERT(order == round_order(points, seed, round));
  };
  EXPECT_TRUE(test::holds("round order", keeps_groups));
}

TEST(RoundOrder, DependsOnTheSeed) {
  const auto points = plan_points(spec_of({PathMtu::mtu1024}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_NE(round_order(points, 1, 0), round_order(points, 2, 0));
}

}  // namespace
}  // namespace mtuscope::sweep
