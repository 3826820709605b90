#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "mtuscope/core/error.hpp"
#include "mtuscope/launch/process.hpp"

namespace mtuscope::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kLongNs = 60'000'000'000;

ProcessResult run(const std::string& script, std::uint64_t deadline_ns = kLongNs) {
  const std::atomic<bool> stop{false};
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

/// For a script that tells us when it runs.
class RunProcessWithFile : public ::testing::Test {
 protected:
  RunProcessWithFile() : file_(std::filesystem::path{::testing::TempDir()} / ("pid_" + std::to_string(::getpid()))) {}
  ~RunProcessWithFile() override { std::filesystem::remove(file_); }

  /// What the script must run to tell a process number.
  [[nodiscard]] std::string tell(const std::string& pid) const {
    return "echo " + pid + " >" + file_.string() + ".new; mv " + file_.string() + ".new " + file_.string();
  }
  [[nodiscard]] int wait_for_pid() const {
    const auto deadline = Deadline::after_ns(kLongNs);
    int pid = 0;
    while (!(std::ifstream{file_} >> pid) && !deadline.passed()) ::sched_yield();
    EXPECT_GT(pid, 0);
    return pid;
  }
  /// It was sent a signal, and ends soon.
  static void expect_end_of(int pid) {
    const auto deadline = Deadline::after_ns(kLongNs);
    while (is_alive(pid) && !deadline.passed()) ::sched_yield();
    EXPECT_FALSE(is_alive(pid));
  }

 private:
  std::filesystem::path file_;
};

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

TEST(RunProcess, EndsAtTheDeadline) {
  const auto result = run("exec sleep 1000", 0);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
}

TEST_F(RunProcessWithFile, EndsWhenTheUserWantsToWithAllThatItStarted) {
  std::atomic<bool> stop{false};
  std::jthread user{[&] {
    (void)wait_for_pid();
    stop = true;
  }};
  const auto result =
      run_process({"sh", "-c", "sleep 1000 & " + tell("$!") + "; wait"}, Deadline::after_ns(kLongNs), stop, 1U << 20U);
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.timed_out);
  expect_end_of(wait_for_pid());
}

TEST_F(RunProcessWithFile, EndsWithUs) {
  const auto us = ::fork();
  if (us == 0) {
    (void)run(tell("$$") + "; exec sleep 1000");
    ::_exit(0);
  }
  const auto pid = wait_for_pid();
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  expect_end_of(pid);
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
