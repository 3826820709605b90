#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mtuscope/report/pair_matrix_text.hpp"

namespace mtuscope::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

records::PointResult point_of(const std::string& from, const std::string& to, double bytes_per_s) {
  Point point;
  point.connection = Connection::mpi;
  point.path_mtu = PathMtu::mtu2048;
  point.message_size_bytes = 4096;
  point.pair = Pair{from, to};
  Measured measured;
  measured.summary.bandwidth_bytes_per_s = Estimate{bytes_per_s, {}, {}};
  return {point, measured};
}

std::string text_of(int hosts, const std::string& slow) {
  analysis::PairMatrices matrices;
  for (int i = 0; i < hosts; ++i) {
    for (int j = i + 1; j < hosts; ++j) {
      const auto from = "n" + std::to_string(i);
      const auto to = "n" + std::to_string(j);
      matrices.add({}, point_of(from, to, from == slow || to == slow ? 750e6 : 1000e6));
    }
  }
  return pair_matrix_text(matrices.finish(), Color::off);
}

TEST(PairMatrixText, NamesTheSlowHostWithTheRulesNumbers) {
  const auto text = text_of(5, "n2");
  EXPECT_THAT(text, HasSubstr("mpi stream mtu 2K size 4096 B [MB/s]"));
  EXPECT_THAT(text, HasSubstr("n2 is slow: the median of its 4 pairs is 750.00 MB/s, 25.0 % below the median host's "
                              "1000.00 MB/s (limit 950.00 MB/s); 4 of 4 are worse than the median host"));
  EXPECT_THAT(text, HasSubstr("n0 -> n2 750.00 MB/s (no interval), 25.0 % below the median pair"));
  EXPECT_THAT(text, HasSubstr("3 n2       -        -       -   750.00   750.00"));
}

TEST(PairMatrixText, NumbersHaveTheirSpreadAndTheProofOfTheirPathMtu) {
  analysis::PairMatrices matrices;
  records::ResultSet record;
  record.sessions.resize(2);
  record.sessions[0].proof.verdict = ProofVerdict::proved;
  record.sessions[1].proof.reason = "no port of this host has a packet counter";
  const auto add = [&](const char* to, double value, std::uint32_t session) {
    auto point = point_of("a", to, value);
    auto& measured = std::get<Measured>(point.outcome);
    measured.session = session;
    measured.summary.bandwidth_bytes_per_s = Estimate{value, value * 0.98, value * 1.01};
    matrices.add(record, point);
  };
  add("b", 900e6, 0);
  add("c", 1000e6, 0);
  add("d", 1000e6, 1);
  matrices.add(record, point_of("a", "e", 1000e6));
  const auto text = pair_matrix_text(matrices.finish(), Color::off);
  EXPECT_THAT(text, HasSubstr("a -> b 900.00 MB/s +-2.0 %, 10.0 % below the median pair"));
  EXPECT_THAT(text, HasSubstr("(95 %, wider half): +-2.0 % at the median, +-2.0 % at most; 1 pair without one"));
  EXPECT_THAT(text, HasSubstr("path MTU proved for 2 pairs\n"));
  EXPECT_THAT(text, HasSubstr("1 not proved (a -> d): no port of this host has a packet counter"));
}

TEST(PairMatrixText, SaysThatNoneIsSlowOrThatItCannotTell) {
  EXPECT_THAT(text_of(5, ""), HasSubstr("no host is slow: none is beyond 950.00 MB/s"));
  EXPECT_THAT(text_of(3, ""), HasSubstr("too few hosts"));
}

TEST(PairMatrixText, ALargeMatrixIsItsRow) {
  EXPECT_THAT(text_of(8, ""), HasSubstr("from \\ to"));
  EXPECT_THAT(text_of(9, ""), Not(HasSubstr("from \\ to")));
  EXPECT_THAT(text_of(9, ""), HasSubstr("   36  1000.00"));
}

TEST(PairMatrixText, SaysWhichPairsWereNotMeasuredAndWhy) {
  analysis::PairMatrices matrices;
  auto point = point_of("a", "b\x1b", 1);
  point.outcome = Skipped{"path MTU 2048 is above the port's"};
  matrices.add({}, point);
  const auto text = pair_matrix_text(matrices.finish(), Color::off);
  EXPECT_THAT(text, HasSubstr("1 skipped (a -> b\\x1b): path MTU 2048 is above the port's"));
}

TEST(PairMatrixText, ManyReasonsAreCutAndCounted) {
  analysis::PairMatrices matrices;
  auto point = point_of("a", "b", 1);
  for (int i = 0; i < 25; ++i) {
    point.outcome = Failed{"attempt " + std::to_string(100 + i), {}};
    matrices.add({}, point);
  }
  point.outcome = Failed{"the frequent one", {}};
  matrices.add({}, point);
  matrices.add({}, point);
  const auto text = pair_matrix_text(matrices.finish(), Color::off);
  EXPECT_THAT(text, HasSubstr("2 failed (a -> b, a -> b): the frequent one\n"));
  EXPECT_THAT(text, HasSubstr("1 failed (a -> b): attempt 108\n"));
  EXPECT_THAT(text, Not(HasSubstr("attempt 109")));
  EXPECT_THAT(text, HasSubstr("16 failed for 16 more reasons, which the record has\n"));
}

TEST(PairMatrixText, LongNamesStandInALegendBesideTheMatrix) {
  analysis::PairMatrices matrices;
  const std::string domain = ".rack-12.cluster.example.org";
  for (int i = 0; i < 6; ++i) {
    for (int j = i + 1; j < 6; ++j) {
      matrices.add({}, point_of("n" + std::to_string(i) + domain, "n" + std::to_string(j) + domain, 12345e6));
    }
  }
  const auto text = pair_matrix_text(matrices.finish(), Color::off);
  EXPECT_THAT(text, HasSubstr("\n1          -  12345.00"));
  EXPECT_THAT(text, HasSubstr("\n  1 n0.rack-12.cluster.example.org\n"));
}

}  // namespace
}  // namespace mtuscope::report
