#include <gtest/gtest.h>

#include "analysis_records.hpp"
#include "mtuscope/analysis/laws.hpp"

namespace mtuscope::analysis {
namespace {

using namespace testing_records;
constexpr auto k1K = PathMtu::mtu1024;
constexpr auto k2K = PathMtu::mtu2048;

/// The law judged on a run that has, at one MPI size, `one_k` and `two_k` MB/s.
LawResult law_at(int number, std::uint64_t size, double one_k, double two_k, double half_width = 0) {
  const auto run =
      record_of(half_width > 0 ? Source::measured : Source::model, point_of(Connection::mpi, Pattern::stream, 50),
                {{k1K, size, one_k, half_width}, {k2K, size, two_k, half_width}, {k1K, 512, 1, 0.1}});
  const auto result = compare_with_table(run, tavor_table());
  return judge_tavor_laws(result.comparisons.at(0)).at(static_cast<std::size_t>(number - 1));
}

TEST(AnalysisLaws, TheTableObeysItsOwnLawsAndDoesNotTestTheLast) {
  const auto result = compare_with_table(tavor_table(), tavor_table());
  const auto laws = judge_tavor_laws(result.comparisons.at(0));
  EXPECT_EQ(laws[0].verdict, LawVerdict::pass);
  EXPECT_EQ(laws[1].verdict, LawVerdict::pass);
  EXPECT_EQ(laws[2].verdict, LawVerdict::pass);
  EXPECT_EQ(laws[3].verdict, LawVerdict::not_tested);
  EXPECT_FALSE(laws[3].reason.empty());
  EXPECT_EQ(laws[0].samples.size(), 1U);
  EXPECT_EQ(laws[1].samples.size(), 3U);
  EXPECT_EQ(laws[2].samples.size(), 2U);
}

TEST(AnalysisLaws, SameOnBothSidesOfItsTolerance) {
  EXPECT_EQ(law_at(1, 512, 100, 101.9).verdict, LawVerdict::pass);
  EXPECT_EQ(law_at(1, 512, 101.9, 100).verdict, LawVerdict::pass);
  EXPECT_EQ(law_at(1, 512, 100, 102.1).verdict, LawVerdict::fail);
  EXPECT_EQ(law_at(1, 512, 102.1, 100).verdict, LawVerdict::fail);
}

TEST(AnalysisLaws, BetterOnBothSidesOfItsTolerance) {
  EXPECT_EQ(law_at(2, 1500, 100, 101.1).verdict, LawVerdict::pass);
  EXPECT_EQ(law_at(2, 1500, 100, 100.9).verdict, LawVerdict::fail);
  EXPECT_EQ(law_at(3, 4096, 101.1, 100).verdict, LawVerdict::pass);
  EXPECT_EQ(law_at(3, 4096, 100.9, 100).verdict, LawVerdict::fail);
}

TEST(AnalysisLaws, GapOnBothSidesOfBothLimits) {
  EXPECT_EQ(law_at(4, 131072, 139.9, 100).verdict, LawVerdict::fail);
  EXPECT_EQ(law_at(4, 131072, 140.1, 100).verdict, LawVerdict::pass);
  EXPECT_EQ(law_at(4, 131072, 159.9, 100).verdict, LawVerdict::pass);
  EXPECT_EQ(law_at(4, 131072, 160.1, 100).verdict, LawVerdict::fail);
}

TEST(AnalysisLaws, AnIntervalAcrossTheLimitIsNotTested) {
  const auto open = law_at(2, 1500, 100, 103, 2);
  EXPECT_EQ(open.verdict, LawVerdict::not_tested);
  EXPECT_NE(open.reason.find("interval"), std::string::npos);
  EXPECT_EQ(law_at(2, 1500, 100, 110, 2).verdict, LawVerdict::pass);
  EXPECT_EQ(law_at(2, 1500, 110, 100, 2).verdict, LawVerdict::fail);
}

TEST(AnalysisLaws, ValuesWithoutIntervalAreNotTested) {
  const auto run =
      record_of(Source::measured, point_of(Connection::mpi, Pattern::stream, 50), {{k1K, 1500, 100}, {k2K, 1500, 200}});
  const auto laws = judge_tavor_laws(compare_with_table(run, tavor_table()).comparisons.at(0));
  EXPECT_EQ(laws[1].verdict, LawVerdict::not_tested);
  EXPECT_NE(laws[1].reason.find("too few trials"), std::string::npos);
}

TEST(AnalysisLaws, SizesBetweenThePostedOnesAreReportedAndDecideNothing) {
  // Law 3 holds at 2048 and 4096; at 3000, which nobody posted, 2K wins.
  const auto run = record_of(
      Source::model, point_of(Connection::mpi, Pattern::stream, 50),
      {{k1K, 2048, 110}, {k2K, 2048, 100}, {k1K, 3000, 100}, {k2K, 3000, 110}, {k1K, 4096, 120}, {k2K, 4096, 100}});
  const auto laws = judge_tavor_laws(compare_with_table(run, tavor_table()).comparisons.at(0));
  EXPECT_EQ(laws[2].verdict, LawVerdict::pass);
  ASSERT_EQ(laws[2].samples.size(), 3U);
  EXPECT_FALSE(laws[2].samples[1].posted);
  EXPECT_EQ(laws[2].samples[1].verdict, LawVerdict::fail);
}

TEST(AnalysisLaws, AnRcRunMayAskFor128KiBOnTheWire) {
  const auto run = record_of(Source::measured, point_of(Connection::rc, Pattern::stream, 0),
                             {{k1K, 562, 100, 1}, {k1K, 131072, 150, 1}, {k2K, 131072, 100, 1}});
  const auto laws = judge_tavor_laws(compare_with_table(run, tavor_table()).comparisons.at(0));
  EXPECT_EQ(laws[3].verdict, LawVerdict::pass);
}

TEST(AnalysisLaws, OneMtuTestsNothing) {
  const auto run = record_of(Source::model, point_of(Connection::mpi, Pattern::stream, 50), {{k1K, 512, 100}});
  for (const auto& law : judge_tavor_laws(compare_with_table(run, tavor_table()).comparisons.at(0))) {
    EXPECT_EQ(law.verdict, LawVerdict::not_tested);
    EXPECT_FALSE(law.reason.empty());
  }
}

}  // namespace
}  // namespace mtuscope::analysis
