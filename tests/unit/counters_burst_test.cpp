#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "mtuscope/counters/burst.hpp"

namespace mtuscope::counters {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

ProofVerdict judged(Connection connection, std::uint64_t counted, std::uint64_t foreign = 0) {
  std::string reason;
  const auto verdict = judge_burst({connection, PathMtu::mtu1024, 1000, counted, foreign}, reason);
  EXPECT_THAT(reason, HasSubstr(std::to_string(counted)));
  return verdict;
}

TEST(Burst, IsExactForUcAndUdAndAtLeastForRcAndMpi) {
  for (const auto connection : {Connection::rc, Connection::uc, Connection::ud, Connection::mpi}) {
    EXPECT_EQ(judged(connection, 1000), ProofVerdict::proved);
    EXPECT_EQ(judged(connection, 999), ProofVerdict::contradicted);
    EXPECT_EQ(judged(connection, 1800), ProofVerdict::contradicted);
    EXPECT_EQ(judged(connection, 2000), ProofVerdict::contradicted);
  }
  EXPECT_EQ(judged(Connection::rc, 1799), ProofVerdict::proved);
  EXPECT_EQ(judged(Connection::mpi, 1799), ProofVerdict::proved);
  EXPECT_EQ(judged(Connection::uc, 1001), ProofVerdict::not_provable);
  EXPECT_EQ(judged(Connection::ud, 1799), ProofVerdict::not_provable);
}

TEST(Burst, ABusyPortOrAStuckCounterAccusesNobody) {
  for (const auto connection : {Connection::rc, Connection::uc, Connection::ud, Connection::mpi}) {
    EXPECT_EQ(judged(connection, 0), ProofVerdict::not_provable);
    EXPECT_EQ(judged(connection, 2000, 1), ProofVerdict::not_provable);
    EXPECT_EQ(judged(connection, 1200, 1), ProofVerdict::not_provable);
    EXPECT_EQ(judged(connection, 1000, 1), ProofVerdict::proved);
    EXPECT_EQ(judged(connection, 999, 1), ProofVerdict::contradicted);
  }
}

TEST(Burst, PacketsThatWereRepeatedAccuseNobody) {
  std::string reason;
  const BurstCount burst{.connection = Connection::rc,
                         .path_mtu = PathMtu::mtu1024,
                         .expected_packets = 1024,
                         .counted_packets = 2175,
                         .foreign_packets = 0,
                         .repeat_causes = 9};
  EXPECT_EQ(judge_burst(burst, reason), ProofVerdict::not_provable);
  EXPECT_THAT(reason, HasSubstr("loses packets"));
}

/// A tree like the kernel's, gone with the test.
class Counters : public ::testing::Test {
 protected:
  Counters() : root_(fs::path{::testing::TempDir()} / ("counters_" + std::to_string(::getpid()))) {}
  ~Counters() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    const auto path = root_ / "class/infiniband" / file;
    fs::create_directories(path.parent_path());
    std::ofstream{path} << text << '\n';
  }
  [[nodiscard]] Sysfs sysfs() const { return Sysfs{root_.string()}; }

 private:
  fs::path root_;
};

TEST_F(Counters, EveryPortThatHasOneIsFound) {
  write("rxe1/ports/1/hw_counters/sent_pkts", "7");
  write("mlx4_0/ports/2/counters/port_xmit_packets", "5");
  write("mlx4_0/ports/1/counters/symbol_error", "0");
  const auto all = PacketCounter::all(sysfs());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name(), "mlx4_0/2 counters/port_xmit_packets");
  EXPECT_EQ(all[0].read(), 5U);
  EXPECT_EQ(all[1].name(), "rxe1/1 hw_counters/sent_pkts");
  EXPECT_TRUE(PacketCounter::all(Sysfs{"/nonexistent"}).empty());
}

TEST_F(Counters, ABurstIsCountedBetweenTwoReadings) {
  const std::string file = "rxe0/ports/1/hw_counters/sent_pkts";
  write(file, "100");
  write("rxe0/ports/1/hw_counters/rcvd_seq_err", "3");
  write("rxe0/ports/1/hw_counters/completer_retry_err", "1");
  const auto counter = PacketCounter::all(sysfs()).at(0);
  const BurstCount expected{.connection = Connection::uc, .path_mtu = PathMtu::mtu1024, .expected_packets = 64};
  std::string problem;
  Burst burst{.messages = 1, .message_size_bytes = 65536, .send = {}, .usable = [] { return true; }, .patience_ns = 0};
  burst.send = [&] {
    write(file, "164");
    write("rxe0/ports/1/hw_counters/rcvd_seq_err", "5");
    return std::string{};
  };
  const auto count = count_burst(counter, expected, burst, problem);
  ASSERT_TRUE(count) << problem;
  EXPECT_EQ(count->counted_packets, 64U);
  EXPECT_EQ(count->foreign_packets, 0U);
  EXPECT_EQ(count->repeat_causes, 2U);
  burst.send = [] { return std::string{"no peer"}; };
  EXPECT_FALSE(count_burst(counter, expected, burst, problem));
  EXPECT_THAT(problem, HasSubstr("no peer"));
  burst.send = [&] {
    write(file, "3");
    return std::string{};
  };
  EXPECT_FALSE(count_burst(counter, expected, burst, problem));
  EXPECT_THAT(problem, HasSubstr("went back"));
}

TEST_F(Counters, ADisturbedBurstIsRepeatedTwice) {
  const std::string file = "rxe0/ports/1/hw_counters/sent_pkts";
  write(file, "0");
  const auto counter = PacketCounter::all(sysfs()).at(0);
  // What the port has sent after each burst of 64 packets: the first two are disturbed by other traffic.
  std::vector<int> sent;
  std::size_t bursts = 0;
  Burst burst{.messages = 1, .message_size_bytes = 65536, .send = {}, .usable = [] { return true; }, .patience_ns = 0};
  burst.send = [&] {
    write(file, std::to_string(sent.at(bursts++)));
    return std::string{};
  };
  MtuProof proof;
  proof.asked = PathMtu::mtu1024;
  sent = {100, 200, 264, 328};
  prove_by_bursts(counter, Connection::uc, burst, proof);
  EXPECT_EQ(bursts, 3U);
  EXPECT_EQ(proof.verdict, ProofVerdict::proved);
  EXPECT_EQ(proof.expected_packets, 64U);
  EXPECT_EQ(proof.counted_packets, 64U);

  proof.verdict = ProofVerdict::not_provable;
  bursts = 0;
  sent = {364, 464, 564, 628};
  prove_by_bursts(counter, Connection::uc, burst, proof);
  EXPECT_EQ(bursts, 3U);
  EXPECT_NE(proof.verdict, ProofVerdict::proved);
}

}  // namespace
}  // namespace mtuscope::counters
