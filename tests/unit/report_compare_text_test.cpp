#include <gtest/gtest.h>

#include "analysis_records.hpp"
#include "mtuscope/report/compare_text.hpp"

namespace mtuscope::report {
namespace {

using namespace testing_records;
constexpr auto k1K = PathMtu::mtu1024;
constexpr auto k2K = PathMtu::mtu2048;

analysis::PostedComparison comparison_of(const records::ResultSet& run) {
  return analysis::compare_with_table(run, tavor_table()).comparisons.at(0);
}

records::ResultSet model_run() {
  return record_of(Source::model, point_of(Connection::mpi, Pattern::stream, 50),
                   {{k1K, 512, 140.3},
                    {k2K, 512, 140.3},
                    {k1K, 1500, 374},
                    {k2K, 1500, 401},
                    {k1K, 3000, 450},
                    {k2K, 3000, 470},
                    {k1K, 4096, 520},
                    {k2K, 4096, 416}});
}

TEST(ReportCompareText, PairsNameBothSourcesAndCountTheMissing) {
  const auto text = pairs_text(comparison_of(model_run()), Source::model, Source::posted);
  EXPECT_NE(text.find("POSTED MB/s"), std::string::npos) << text;
  EXPECT_NE(text.find("MODEL MB/s"), std::string::npos) << text;
  EXPECT_NE(text.find("stated, no spread"), std::string::npos) << text;
  EXPECT_NE(text.find("6 of 12 posted points compared"), std::string::npos) << text;
  EXPECT_NE(text.find("not in the run: mtu 2K, 2048 B (wire 2098)"), std::string::npos) << text;
  EXPECT_NE(text.find("-1.51"), std::string::npos) << text;
}

TEST(ReportCompareText, CrossoversShowBothSizesOfEachBracket) {
  const auto text = crossovers_text(comparison_of(model_run()).table, analysis::Metric::bandwidth, "table");
  EXPECT_EQ(text,
            "crossovers, table, 1K against 2K: 2\n"
            "  between 512 (wire 562) and 1024 (wire 1074) B: from the same to 2K leads\n"
            "  between 1800 (wire 1850) and 2048 (wire 2098) B: from 2K leads to 1K leads\n");
}

TEST(ReportCompareText, LawsShowVerdictNumbersAndWhatLiesBetween) {
  const auto text = laws_text(analysis::judge_tavor_laws(comparison_of(model_run())), Source::model, Color::off);
  EXPECT_NE(text.find("1. 1K and 2K are the same below 1 KiB: pass"), std::string::npos) << text;
  EXPECT_NE(text.find("3. 1K is better above 2 KiB: pass"), std::string::npos) << text;
  EXPECT_NE(text.find("4096 B (wire 4146): +25.00 %"), std::string::npos) << text;
  EXPECT_NE(text.find("between posted sizes: 1 of 1 sizes disagree, wire 3050 to 3050 B"), std::string::npos) << text;
  EXPECT_NE(text.find("4. 1K is ahead by 40 to 60 % at 128 KiB: not tested: "), std::string::npos) << text;
}

TEST(ReportCompareText, OnlyOfAModelLaw1IsSaidToHoldByConstruction) {
  const auto laws = analysis::judge_tavor_laws(comparison_of(model_run()));
  EXPECT_NE(laws_text(laws, Source::model, Color::off).find("MODEL: so by construction"), std::string::npos);
  EXPECT_EQ(laws_text(laws, Source::measured, Color::off).find("construction"), std::string::npos);
}

TEST(ReportCompareText, TitleSaysWhenConnectionsDiffer) {
  const auto run = record_of(Source::measured, point_of(Connection::rc, Pattern::stream, 0), {{k1K, 562, 100, 1}});
  EXPECT_EQ(comparison_title(comparison_of(run)),
            "run rc send stream beside table mpi send stream, on wire sizes; MPI's own cost per message is in one of "
            "them only");
}

}  // namespace
}  // namespace mtuscope::report
