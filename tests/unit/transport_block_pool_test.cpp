#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/transport/block_pool.hpp"

namespace mtuscope {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

WorkingSet set_of(std::uint64_t count, std::uint64_t size_bytes, std::uint32_t alias_count = 1) {
  WorkingSet set;
  set.block_count = count;
  set.block_size_bytes = size_bytes;
  set.alias_count = alias_count;
  return set;
}

TEST(BlockPool, BlocksBeginAtPages) {
  EXPECT_EQ(layout_of(set_of(3, 1)).stride_bytes, 4096U);
  EXPECT_EQ(layout_of(set_of(3, 4096)).stride_bytes, 4096U);
  EXPECT_EQ(layout_of(set_of(3, 4097)).stride_bytes, 8192U);
  EXPECT_EQ(layout_of(set_of(3, 4097)).physical_bytes, 3U * 8192);
  auto huge = set_of(3, 4097);
  huge.page_size_bytes = 2 * kMebibyte;
  EXPECT_EQ(layout_of(huge).physical_bytes, 2 * kMebibyte);
}

TEST(BlockPool, AliasesAreTheSameMemoryAtOtherAddresses) {
  const std::vector<WorkingSet> sets{set_of(10, 5000, 4)};
  const BlockPool pool{sets};
  const auto& layout = pool.layout(0);
  ASSERT_EQ(layout.physical_block_count, 3U);
  auto* const base = pool.base(0);
  std::memset(base, 0, layout.mapped_bytes);
  base[1 * layout.stride_bytes + 77] = std::byte{42};
  for (std::uint64_t b = 0; b < 10; ++b) {
    EXPECT_EQ(base[b * layout.stride_bytes + 77], b % 3 == 1 ? std::byte{42} : std::byte{0}) << b;
  }
}

TEST(BlockPool, SetsShareMemoryAndNotAddresses) {
  const std::vector<WorkingSet> sets{set_of(4, 4096), set_of(64, 4096)};
  const BlockPool pool{sets};
  EXPECT_NE(pool.base(0), pool.base(1));
  pool.base(0)[0] = std::byte{7};
  EXPECT_EQ(pool.base(1)[0], std::byte{7});
  std::memset(pool.base(1), 1, pool.layout(1).mapped_bytes);
}

TEST(BlockPool, SaysWhatIsMissingBeforeAnythingIsAllocated) {
  const auto complaint = [](const WorkingSet& set, bool registered, const MemoryLimits& limits) -> std::string {
    try {
      check_memory({&set, 1}, registered, limits);
    } catch (const RunError& error) {
      return error.what();
    }
    return {};
  };
  const MemoryLimits limits{.available_bytes = 100 * kMebibyte,
                            .memlock_bytes = 8 * kMebibyte,
                            .free_huge_pages_2m = 3,
                            .free_huge_pages_1g = 0};
  EXPECT_EQ(complaint(set_of(2048, 4096), true, limits), "");
  EXPECT_NE(complaint(set_of(2049, 4096), true, limits).find("RLIMIT_MEMLOCK"), std::string::npos);
  EXPECT_EQ(complaint(set_of(2049, 4096), false, limits), "");
  EXPECT_NE(complaint(set_of(4096, 4096, 2), true, limits), "") << "every alias is registered";
  EXPECT_NE(complaint(set_of(100'000, 4096), false, limits).find("390.6 MiB of memory are needed"), std::string::npos);
  auto huge = set_of(1536, 4096);
  huge.page_size_bytes = 2 * kMebibyte;
  EXPECT_EQ(complaint(huge, false, limits), "");
  huge.block_count = 1537;
  EXPECT_NE(complaint(huge, false, limits).find("4 huge pages of 2M are needed and this host has 3 free"),
            std::string::npos);
  huge.page_size_bytes = std::uint64_t{1} << 30U;
  EXPECT_NE(complaint(huge, false, limits).find("1 huge pages of 1G"), std::string::npos);
}

TEST(BlockPool, KnowsWhatMayComeFromAStranger) {
  EXPECT_TRUE(is_mappable(set_of(1024, 8192, 2)));
  EXPECT_FALSE(is_mappable(set_of(0, 8192)));
  EXPECT_FALSE(is_mappable(set_of(kMaxBlockCount + 1, 8192)));
  EXPECT_FALSE(is_mappable(set_of(8, 0)));
  EXPECT_FALSE(is_mappable(set_of(8, 8192, 9)));
  EXPECT_FALSE(is_mappable(set_of(kMaxBlockCount, std::uint64_t{1} << 31U)));
  auto huge = set_of(1024, 8192, 2);
  huge.page_size_bytes = 2 * kMebibyte;
  EXPECT_TRUE(is_mappable(huge));
  huge.alias_count = 3;
  EXPECT_FALSE(is_mappable(huge));
  huge.page_size_bytes = 8192;
  EXPECT_FALSE(is_mappable(huge));
}

TEST(BlockPool, ReadsWhatThisHostHas) { EXPECT_GT(read_memory_limits().available_bytes, 0U); }

}  // namespace
}  // namespace mtuscope
