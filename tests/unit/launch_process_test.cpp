#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "mtuscope/core/error.hpp"
#include "mtuscope/launch/process.hpp"

namespace mtuscope::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kLongNs = 60'000'000'000;

ProcessResult run(const std::string& script, std::uint64_t deadline_ns = kLongNs, bool stop_it = false) {
  const std::atomic<bool> stop{stop_it};
  return run_process({"sh", "-c", script}, Deadline::after_ns(deadline_ns), stop, 1U << 20U);
}

/// A process that has ended may still be listed, until its parent has looked.
bool is_alive(int pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  std::string number;
  std::string name;
  std::string state;
  return file >> number >> name >> state && state != "Z";
}

TEST(RunProcess, KeepsOutputLastWordsAndExitCode) {
  const auto result = run("echo record; echo first >&2; echo last >&2; exit 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "record\n");
  EXPECT_EQ(result.last_lines, "first\nlast\n");
  EXPECT_FALSE(result.timed_out || result.stopped);
}

TEST(RunProcess, KeepsOnlyTheEndOfManyWords) {
  const auto result = run("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done");
  EXPECT_LE(result.last_lines.size(), 4096U);
  EXPECT_TRUE(result.last_lines.starts_with("line "));
  EXPECT_TRUE(result.last_lines.ends_with("line 1999\n"));
}

TEST(RunProcess, EndsAtTheDeadlineWithAllThatItStarted) {
  const auto result = run("sleep 1000 & echo $!; wait", 2'000'000'000);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
  const auto child = std::stoi(result.output);
  const auto deadline = Deadline::after_ns(kLongNs);
  while (is_alive(child) && !deadline.passed()) ::sched_yield();  // it was sent the signal; it ends soon
  EXPECT_FALSE(is_alive(child));
}

TEST(RunProcess, EndsWhenTheUserWantsTo) {
  const auto result = run("sleep 1000", kLongNs, true);
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.timed_out);
}

TEST(RunProcess, DoesNotWaitForAGrandchildThatKeepsThePipesOpen) {
  EXPECT_EQ(run("sleep 1000 & echo done").output, "done\n");
}

TEST(RunProcess, BoundsWhatItKeeps) {
  const std::atomic<bool> stop{false};
  EXPECT_THROW((void)run_process({"yes"}, Deadline::after_ns(kLongNs), stop, 100'000), RunError);
}

TEST(RunProcess, SaysWhatCannotBeStarted) {
  const std::atomic<bool> stop{false};
  try {
    (void)run_process({"no-such-launcher"}, Deadline::after_ns(kLongNs), stop, 1);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no-such-launcher"));
  }
}

TEST(SplitCommand, AsAShellDoesButRunsNothing) {
  EXPECT_THAT(split_command("mpirun -np 2 --host 'a,b' -x \"NAME=two words\""),
              ElementsAre("mpirun", "-np", "2", "--host", "a,b", "-x", "NAME=two words"));
  for (const auto* bad : {"mpirun; reboot", "mpirun $(id)", "mpirun `id`", "mpirun 'a", "mpirun | cat", "", "  "}) {
    EXPECT_THROW((void)split_command(bad), ConfigError) << bad;
  }
}

}  // namespace
}  // namespace mtuscope::launch
